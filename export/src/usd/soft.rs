//! Particles and cloth of a stage: what is the same in all frames, and the layer of one.

use pliant_io::ply::{Frame, FrameParticle};

use super::text::{Text, list, tuples};
use crate::solid::linear;
use crate::take::Take;

/// A prim with some of the particles.
struct Group<'a> {
    kind: &'static str,
    name: String,
    particles: &'a [usize],
    material: u16,
}

/// `Points` of each material, and a `Mesh` of the cloth.
fn groups<'a>(take: &'a Take) -> Vec<Group<'a>> {
    let points = |(&material, particles): (&u16, &'a Vec<usize>)| Group {
        kind: "Points",
        name: format!("material_{material}"),
        particles,
        material,
    };
    let mut all: Vec<Group> = take.balls.iter().map(points).collect();
    if let Some(&first) = take.cloth.first() {
        let material = take.first.particles[first].material;
        all.push(Group { kind: "Mesh", name: "cloth".to_owned(), particles: &take.cloth, material });
    }
    all
}

/// An attribute that changes over time.
struct Attribute {
    declared: String,
    metadata: &'static str,
    width: usize,
    push: fn(&FrameParticle, &mut Vec<f32>),
}

fn attributes(take: &Take, kind: &str) -> Vec<Attribute> {
    let plain = |declared: &str, width, push: fn(&FrameParticle, &mut Vec<f32>)| Attribute {
        declared: declared.to_owned(),
        metadata: "",
        width,
        push,
    };
    let mut all = vec![
        plain("point3f[] points", 3, |p, out| out.extend(p.position)),
        plain("vector3f[] velocities", 3, |p, out| out.extend(p.velocity)),
    ];
    if kind == "Points" {
        all.push(plain("float[] widths", 1, |p, out| out.push(2.0 * p.radius)));
    }
    all.push(Attribute {
        metadata: VERTEX,
        ..plain("color3f[] primvars:displayColor", 3, |p, out| out.extend(p.color.map(linear)))
    });
    for column in take.columns().into_iter().filter(|c| !["velocity", "radius"].contains(&c.name)) {
        // A gradient is nine plain numbers an element.
        let metadata = if column.width == 9 { VERTEX_9 } else { VERTEX };
        let declared = format!("float[] primvars:{}", column.name);
        all.push(Attribute { declared, metadata, width: 1, push: column.push });
    }
    all
}

const VERTEX: &str = " ( interpolation = \"vertex\" )";
const VERTEX_9: &str = " (\n    interpolation = \"vertex\"\n    elementSize = 9\n)";

/// The box of particles, of which dots have a size: an attribute that changes too.
const EXTENT: &str = "float3[] extent";

fn extent<'a>(particles: impl Iterator<Item = &'a FrameParticle>, is_dots: bool) -> Vec<f32> {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for particle in particles {
        let radius = if is_dots { particle.radius } else { 0.0 };
        for (axis, &middle) in particle.position.iter().enumerate() {
            low[axis] = low[axis].min(middle - radius);
            high[axis] = high[axis].max(middle + radius);
        }
    }
    [low, high].concat()
}

/// The prims below `Soft` in the stage: what does not change, and the types of what the clips have.
pub fn fixed(take: &Take) -> String {
    let mut text = Text::default();
    for group in groups(take) {
        text.line(format!("        def {} \"{}\"\n        {{", group.kind, group.name));
        let particles = list(group.particles.iter().copied());
        if group.kind == "Points" {
            text.line(format!("            int64[] ids = {particles}"));
            text.line(format!("            custom int pliant:material = {}", group.material));
        } else {
            let corners = take.triangles.iter().flatten().copied();
            let counts = list(take.triangles.iter().map(|_| 3));
            text.line(format!("            int[] faceVertexCounts = {counts}"));
            text.line(format!("            int[] faceVertexIndices = {}", list(corners)));
            text.line("            uniform token subdivisionScheme = \"none\"");
            text.line("            uniform bool doubleSided = 1");
            text.line(format!("            int[] primvars:particle = {particles}{VERTEX}"));
            let materials = group.particles.iter().map(|&p| usize::from(take.first.particles[p].material));
            text.line(format!("            int[] primvars:material = {}{VERTEX}", list(materials)));
        }
        for attribute in attributes(take, group.kind) {
            text.line(format!("            {}{}", attribute.declared, attribute.metadata));
        }
        text.line(format!("            {EXTENT}"));
        text.line("        }");
    }
    text.0
}

/// The manifest of the clips: their attributes without values.
pub fn declared(take: &Take) -> String {
    let mut text = Text::default();
    text.line("over \"Soft\"\n{");
    for group in groups(take) {
        text.line(format!("    over \"{}\"\n    {{", group.name));
        for attribute in attributes(take, group.kind) {
            text.line(format!("        {}", attribute.declared));
        }
        text.line(format!("        {EXTENT}"));
        text.line("    }");
    }
    text.line("}");
    text.0
}

/// The layer of a frame at a time code.
pub fn sampled(take: &Take, frame: &Frame, code: f64) -> String {
    let mut text = Text::default();
    text.line("over \"Soft\"\n{");
    let mut values = Vec::new();
    for group in groups(take) {
        text.line(format!("    over \"{}\"\n    {{", group.name));
        for attribute in attributes(take, group.kind) {
            values.clear();
            group.particles.iter().for_each(|&at| (attribute.push)(&frame.particles[at], &mut values));
            let samples = tuples(&values, attribute.width);
            text.line(format!("        {}.timeSamples = {{ {code:?}: {samples} }}", attribute.declared));
        }
        let particles = group.particles.iter().map(|&at| &frame.particles[at]);
        let extent = tuples(&extent(particles, group.kind == "Points"), 3);
        text.line(format!("        {EXTENT}.timeSamples = {{ {code:?}: {extent} }}"));
        text.line("    }");
    }
    text.line("}");
    text.0
}
