//! What pictures show of a model. Contact does not depend on it.

use pliant_import::Imported;

/// Names of the shapes that are shown, those that touch first.
fn shown(imported: &Imported) -> Vec<&str> {
    let touching = imported.geometries.iter().enumerate().filter(|(i, _)| !imported.hidden.contains(i));
    let touching = touching.map(|(_, g)| g.name.as_str());
    touching.chain(imported.visuals.iter().map(|v| v.name.as_str())).collect()
}

// Checks: geoms of groups 0 to 2 are shown, as in MuJoCo's viewer by default; those of higher groups
// only where their link has nothing else; transparent ones never. All that touch are there.
#[test]
fn geoms_of_high_groups_are_shown_alone() {
    let geom = |name: &str, more: &str| format!("<geom name=\"{name}\" size=\"0.1\" {more}/>");
    let unseen = "contype=\"0\" conaffinity=\"0\"";
    let text = format!(
        "<mujoco><worldbody>
           <body><freejoint/>{}{}{}</body>
           <body><freejoint/>{}</body>
           <body><freejoint/>{}{}</body>
         </worldbody></mujoco>",
        geom("hull", "group=\"3\""),
        geom("skin", &format!("group=\"2\" mass=\"0\" {unseen}")),
        geom("ghost", &format!("group=\"4\" mass=\"0\" {unseen}")),
        geom("lonely", "group=\"3\""),
        geom("clear", "rgba=\"1 0 0 0\""),
        geom("plain", "group=\"1\""),
    );
    let imported = pliant_import::from_mjcf(&text, ".").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(shown(&imported), ["lonely", "plain", "skin"]);
    assert_eq!(imported.geometries.len(), 4);
}

// Checks: beside meshes of group 1 or 2 that are only seen, geoms of group 0 that touch are not shown
// (robosuite's convention, which MuJoCo's viewer does not know); beside other geoms they are.
#[test]
fn geoms_behind_a_skin_are_not_shown() {
    let seen = "mass=\"0\" contype=\"0\" conaffinity=\"0\"";
    let mesh = "type=\"mesh\" mesh=\"m\"";
    let body = |geoms: &[String]| format!("<body><freejoint/>{}</body>", geoms.concat());
    let geom = |name: &str, more: &str| format!("<geom name=\"{name}\" size=\"0.1\" {more}/>");
    let text = format!(
        "<mujoco><asset><mesh name=\"m\" vertex=\"0 0 0  1 0 0  0 1 0  0 0 1\"/></asset><worldbody>{}{}{}
         </worldbody></mujoco>",
        body(&[
            geom("skin", &format!("{mesh} {seen} group=\"1\"")),
            geom("core", ""),
            geom("tip", "group=\"1\"")
        ]),
        body(&[geom("eye", &format!("{seen} group=\"1\"")), geom("head", "")]),
        body(&[geom("badge", &format!("{mesh} {seen}")), geom("chest", "")]),
    );
    let imported = pliant_import::from_mjcf(&text, ".").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(shown(&imported), ["tip", "head", "chest", "skin", "eye", "badge"]);
    assert_eq!(imported.geometries.len(), 4);
}

// Checks: a link of a URDF that has visuals shows these alone, another its collision shapes.
#[test]
fn links_show_their_visuals_or_what_touches() {
    let shape = "<geometry><sphere radius=\"0.1\"/></geometry>";
    let text = format!(
        "<robot name=\"r\"><link name=\"a\"><visual>{shape}</visual><collision>{shape}</collision></link>
           <link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\"
             ixz=\"0\" iyz=\"0\"/></inertial><collision>{shape}</collision></link>
           <joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint></robot>"
    );
    let imported = pliant_import::from_urdf(&text, ".").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(shown(&imported), ["b/collision0", "a/visual0"]);
    assert_eq!(imported.geometries.len(), 2);
}

// Checks: a mesh that its hull does not follow is shown as it is, in its colour, and its hull is not.
#[test]
fn hollow_meshes_are_shown_as_they_are() {
    // A tetrahedron with a dent: its fifth vertex inside takes the place of one face.
    let mesh = "vertex=\"0 0 0  1 0 0  0 1 0  0 0 1  0.2 0.2 0.2\"
                face=\"0 2 1  0 1 3  0 3 2  1 2 4  2 3 4  3 1 4\"";
    let text = format!(
        "<mujoco><asset><mesh name=\"m\" {mesh}/></asset><worldbody><body><freejoint/>
           <geom name=\"dented\" type=\"mesh\" mesh=\"m\" rgba=\"1 0 0 1\"/></body></worldbody></mujoco>"
    );
    let imported = pliant_import::from_mjcf(&text, ".").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(imported.geometries.len(), 1);
    assert_eq!(imported.hidden.len(), 1);
    assert_eq!(shown(&imported), ["dented"]);
    assert_eq!(imported.visuals[0].color, [255, 0, 0]);
}

// Checks: the colour that a mesh gives a part goes before the material of the URDF, which paints the
// others (RViz, robot_link.cpp: "Assign materials only if the submesh does not have one already").
#[test]
fn colours_of_meshes_go_before_materials() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.mtl"), "newmtl red\nKd 1 0 0\nnewmtl none\n").unwrap();
    let mesh = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n\
                usemtl red\nf 1 2 3\nf 1 2 4\nusemtl none\nf 1 3 4\nf 2 3 4\n";
    std::fs::write(folder.path().join("a.obj"), mesh).unwrap();
    let visual = |material| {
        let mesh = "<geometry><mesh filename=\"a.obj\"/></geometry>";
        format!("<robot name=\"r\"><link name=\"a\"><visual>{mesh}{material}</visual></link></robot>")
    };
    let blue = "<material name=\"m\"><color rgba=\"0 0 1 1\"/></material>";
    for (material, others) in [(blue, [0, 0, 255]), ("", [128; 3])] {
        let text = visual(material);
        let imported = pliant_import::from_urdf(&text, folder.path()).unwrap_or_else(|e| panic!("{e}"));
        let colors: Vec<_> = imported.visuals.iter().map(|v| v.color).collect();
        assert_eq!(colors, [[255, 0, 0], others], "{material}");
    }
}
