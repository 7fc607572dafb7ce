//! How a file is read, and the repairs that a user can ask for.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// How a file is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadOptions {
    /// Whether the root link of a URDF moves freely (true) or is fixed to the world (false). `None`:
    /// as the file says. A URDF cannot say that its root is free, but the SRDF beside it can: a
    /// `virtual_joint` of type `floating` in `NAME.srdf` frees the root, where NAME is that of the
    /// file or of the robot, in the folder of the file or in `../srdf`. MJCF says it by itself.
    pub floating: Option<bool>,
    /// Repairs of the file that change its physics.
    pub repairs: BTreeSet<Repair>,
    /// Collision meshes that are not convex become several convex hulls; one without.
    pub decompose: Option<Decompose>,
    /// A folder in which the hulls of decomposed meshes are kept, by the digest of the mesh and the
    /// settings; none without. It is made if it is not there.
    pub cache: Option<PathBuf>,
}

/// A repair that changes the physics of a file. None is made unless it is asked for; what was done
/// is among the warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// Moments of inertia that no body has are raised until a body has them: negative ones to zero,
    /// and each to the difference of the two others.
    Inertia,
    /// Moving links without a mass get that of their collision shapes, at the density of water.
    Mass,
    /// Joints that move nothing that has a mass are fixed at their initial position.
    Weld,
    /// Collision shapes that cannot be used are left out.
    Shapes,
    /// Of too many numbers the first ones count, and of a malformed number its beginning.
    Numbers,
}

impl Repair {
    /// All repairs.
    pub const ALL: [Self; 5] = [Self::Inertia, Self::Mass, Self::Weld, Self::Shapes, Self::Numbers];

    /// Its name, in commands and scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inertia => "inertia",
            Self::Mass => "mass",
            Self::Weld => "weld",
            Self::Shapes => "shapes",
            Self::Numbers => "numbers",
        }
    }

    /// What it does.
    pub fn help(self) -> &'static str {
        match self {
            Self::Inertia => "raises moments of inertia that no body has to the nearest that one has",
            Self::Mass => "gives links without mass that of their collision shapes at 1000 kg/m^3",
            Self::Weld => "fixes joints that move nothing with a mass",
            Self::Shapes => "leaves out collision shapes that cannot be used",
            Self::Numbers => "takes the first of too many numbers, and of a malformed number its beginning",
        }
    }

    /// The repair of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|repair| repair.name() == name)
    }
}

impl core::fmt::Display for Repair {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// How finely meshes are decomposed into convex hulls: the settings of V-HACD (Mamou 2016).
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Decompose {
    /// Largest concavity of a part, as a part of the volume of the mesh's hull, from 0 to 1 [-].
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
    pub concavity: f64,
    /// Most hulls of a mesh, from 4 to 1024 [-]. Parts are halved: what counts is the power of two
    /// up to it.
    #[cfg_attr(feature = "schema", schemars(range(min = 4, max = 1024)))]
    pub hulls: u32,
    /// Voxels along the longest side, from 8 to 256 [-].
    #[cfg_attr(feature = "schema", schemars(range(min = 8, max = 256)))]
    pub resolution: u32,
}

impl Default for Decompose {
    fn default() -> Self {
        Self { concavity: 0.01, hulls: 32, resolution: 64 }
    }
}
