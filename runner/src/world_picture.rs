//! A picture or a frame of a world as it is, without a run directory.

use std::path::Path;

use nalgebra::Point3;
use pliant_coupling::{ParticleSnapshot, World};
use pliant_io::ply::Frame;
use pliant_render::{
    Camera, Image, KeptBackground, Picture, RenderError, render, render_depth, render_with_depth, write_png,
};
use pliant_scenes::Scenario;
use pliant_scenes::format::{ColorBy, Field, Output};

use crate::picture_error::PictureError;
use crate::picture_frame::{FrameContents, balls, body_numbers, granular_bodies};
use crate::picture_parts::{Plane, Region, add_shapes, ground, slopes, upright};
use crate::run::FrameWriter;

/// Colours of the materials in order, and again from the first: of dough, foam and others.
const MATERIALS: [[u8; 3]; 6] =
    [[224, 190, 140], [105, 150, 195], [135, 175, 110], [200, 115, 105], [150, 125, 180], [170, 170, 170]];

/// How a world is shown. [`default`](Self::default) shows all of it from the front right, its
/// materials in colours.
///
/// ```no_run
/// # use pliant_runner::picture::{PictureError, WorldLook};
/// fn show(world: &mut pliant_coupling::World) -> Result<(), PictureError> {
///     WorldLook::default().write_picture(world, "world.png")
/// }
/// ```
#[derive(Clone, Debug)]
pub struct WorldLook {
    /// Width and height of pictures \[pixels\].
    pub size: [u32; 2],
    /// The camera; none: one that shows everything but what has no bounds, upwards against gravity.
    pub camera: Option<Camera>,
    /// sRGB colour of each particle, in the order in which they were added; empty: of its material.
    pub colors: Vec<[u8; 3]>,
    /// What colours particles instead.
    pub color_by: ColorBy,
    /// Particles of each soft body \[-\], in the order in which they were added, so that surfaces do
    /// not merge; empty: materials tell them apart.
    pub soft_particles: Vec<usize>,
    /// Those of the soft bodies, by their place in `soft_particles`, that are heaps of grains: their
    /// surfaces are not made smooth.
    pub granular: Vec<u32>,
    /// Whether light, shadow and surfaces of soft bodies are coarser, in less time: for what is seen
    /// small or by a program.
    pub draft: bool,
    /// A line of text in the lower left corner, before the time; none: neither, as for a program that
    /// must not read the time off its pictures.
    pub caption: Option<String>,
}

impl Default for WorldLook {
    fn default() -> Self {
        let Output { picture_size, color_by, .. } = Output::default();
        Self {
            size: picture_size,
            camera: None,
            colors: Vec::new(),
            color_by,
            soft_particles: Vec::new(),
            granular: Vec::new(),
            draft: false,
            caption: Some(String::new()),
        }
    }
}

impl WorldLook {
    /// The look of a scene: its colours, camera and size of pictures.
    pub fn of(scenario: &Scenario) -> Self {
        let Output { picture_size, color_by, camera, .. } = &scenario.scene.output;
        let soft_particles: Vec<usize> = scenario.parts.iter().map(ExactSizeIterator::len).collect();
        let up = upright(&scenario.world.gravity()).inverse() * nalgebra::Vector3::z();
        let placed = |c: &pliant_scenes::format::Camera| Camera {
            position: c.position.into(),
            target: c.target.into(),
            up,
            vertical_fov: c.field_of_view,
        };
        Self {
            size: *picture_size,
            camera: camera.as_ref().map(placed),
            colors: scenario.colors.clone(),
            color_by: *color_by,
            granular: granular_bodies(&scenario.scene, &soft_particles),
            soft_particles,
            draft: false,
            caption: Some(scenario.scene.name.clone()),
        }
    }

    /// A picture of a world.
    ///
    /// # Errors
    /// [`PictureError`]: the particles cannot be fetched from a device, their number is not that of
    /// the colours, or the renderer refuses the size.
    pub fn picture(&self, world: &mut World) -> Result<Image, PictureError> {
        let frame = self.collected(world)?.frame();
        Ok(self.draw(world, frame, render)?)
    }

    /// A picture of a world and the [`depth`](Self::depth) of its pixels, in less time where the one
    /// before was made by the same camera.
    ///
    /// # Errors
    /// As [`picture`](Self::picture).
    pub fn picture_with_depth(
        &self,
        world: &mut World,
        kept: &mut KeptBackground,
    ) -> Result<(Image, Vec<f32>), PictureError> {
        let frame = self.collected(world)?.frame();
        Ok(self.draw(world, frame, |picture| render_with_depth(picture, kept))?)
    }

    /// How far what a picture of a world shows is from the camera, along its viewing direction \[m\]:
    /// rows from the top; infinite where there is nothing.
    ///
    /// # Errors
    /// As [`picture`](Self::picture).
    pub fn depth(&self, world: &mut World) -> Result<Vec<f32>, PictureError> {
        let frame = self.collected(world)?.frame();
        Ok(self.draw(world, frame, render_depth)?)
    }

    /// Writes a picture of a world as a PNG file; it is complete or absent.
    ///
    /// # Errors
    /// As [`picture`](Self::picture), and those of the file.
    pub fn write_picture(&self, world: &mut World, path: impl AsRef<Path>) -> Result<(), PictureError> {
        Ok(write_png(path, &self.picture(world)?)?)
    }

    /// Writes the particles of a world as a PLY file, with the time and all fields; it is complete
    /// or absent.
    ///
    /// # Errors
    /// As [`picture`](Self::picture), and those of the file.
    pub fn write_frame(&self, world: &mut World, path: impl AsRef<Path>) -> Result<(), PictureError> {
        let writer = self.collected(world)?;
        writer.write_to(path.as_ref(), world.time())?;
        Ok(())
    }

    fn collected(&self, world: &mut World) -> Result<FrameWriter, PictureError> {
        let (given, particles) = (self.colors.len(), world.particle_count());
        if given != 0 && given != particles {
            return Err(PictureError::Colors { given, particles });
        }
        let colors = if given > 0 { self.colors.clone() } else { material_colors(world)? };
        let output = Output { color_by: self.color_by, fields: Field::ALL.to_vec(), ..Output::default() };
        let mut writer = FrameWriter::new(colors, world.cloths(), &[], &output);
        writer.collect(world)?;
        Ok(writer)
    }

    fn draw<T>(
        &self,
        world: &World,
        frame: Frame,
        draw: impl FnOnce(&Picture) -> Result<T, RenderError>,
    ) -> Result<T, RenderError> {
        let bodies = world.bodies();
        let links = bodies.simulation().system().model.links();
        let plane = |b: &pliant_coupling::Boundary| (b.point, b.normal);
        let planes: Vec<Plane> = world.settings().boundaries.iter().map(plane).collect();
        let mut shapes = Vec::new();
        let mut region = Region::new(upright(&world.gravity()));
        region.add_balls(&balls(&frame));
        for corner in frame.triangles.iter().flatten() {
            region.add_point(&Point3::from(frame.particles[*corner as usize].position.map(f64::from)));
        }
        for (id, body) in bodies.iter() {
            let pose = bodies.pose(id);
            region.add_body(body, &pose);
            add_shapes(body, &pose, links, &mut shapes);
        }
        shapes.extend(slopes(&planes));
        let [width, height] = self.size;
        let camera = self.camera.unwrap_or_else(|| region.camera(self.size));
        let of_bodies = self.color_by == ColorBy::Body;
        let soft = body_numbers(&frame.particles, &self.soft_particles, of_bodies);
        let contents = FrameContents::new(
            frame,
            world.ropes().len(),
            &soft,
            &self.granular,
            &camera,
            height,
            self.draft,
        );
        let caption = self.caption.as_ref().map(|name| contents.caption(name, world.time()));
        let cloths = [contents.cloth(&[])];
        let mut picture = Picture::new(width, height, camera);
        picture.particles = contents.spheres();
        picture.surfaces = contents.surfaces();
        picture.cloths = &cloths;
        picture.bodies = &shapes;
        picture.ground = ground(&planes);
        picture.caption = caption.as_deref();
        picture.draft = self.draft;
        draw(&picture)
    }
}

fn material_colors(world: &mut World) -> Result<Vec<[u8; 3]>, PictureError> {
    let mut snapshot = ParticleSnapshot::default();
    world.snapshot(&mut snapshot)?;
    Ok(snapshot.material.iter().map(|m| MATERIALS[*m as usize % MATERIALS.len()]).collect())
}
