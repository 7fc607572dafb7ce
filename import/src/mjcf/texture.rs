//! Mean colours of textures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::element::Element;
use super::super::error::{ImportError, ImportWarning, WarningKind};
use pliant_io::input::read_input;
use pliant_io::mesh::mean_color;

/// The textures of a file. Only those that a material names are read.
pub(super) struct Textures<'a> {
    elements: BTreeMap<&'a str, &'a Element>,
    folder: PathBuf,
    strip_path: bool,
    known: BTreeMap<String, Option<[u8; 3]>>,
    /// Files that were read.
    pub files: Vec<PathBuf>,
}

impl<'a> Textures<'a> {
    pub fn new(root: &'a Element, directory: &Path, strip_path: bool) -> Self {
        let elements = root.all("asset").flat_map(|asset| asset.all("texture"));
        let named = elements.filter_map(|e| Some((e.text("name").or(e.text("file"))?, e)));
        let mut folder = directory.to_path_buf();
        for compiler in root.all("compiler") {
            for attribute in ["assetdir", "texturedir"] {
                folder = compiler.text(attribute).map_or(folder, |inner| directory.join(inner));
            }
        }
        Self { elements: named.collect(), folder, strip_path, known: BTreeMap::new(), files: Vec::new() }
    }

    /// The mean colour of a material's texture; `None` without one that can be read.
    pub fn of_material(
        &mut self,
        material: &Element,
        warnings: &mut Vec<ImportWarning>,
    ) -> Result<Option<[u8; 3]>, ImportError> {
        let is_color = |layer: &&Element| {
            layer
                .text("role")
                .is_some_and(|role| role.eq_ignore_ascii_case("rgb") || role.eq_ignore_ascii_case("rgba"))
        };
        let layer = material.all("layer").find(is_color).and_then(|layer| layer.text("texture"));
        let Some(name) = material.text("texture").or(layer) else { return Ok(None) };
        if let Some(known) = self.known.get(name) {
            return Ok(*known);
        }
        let mean = match self.elements.get(name).copied() {
            Some(texture) => self.mean(texture, warnings)?,
            None => {
                warnings.push(
                    material
                        .warn("texture", "left out: there is no texture of this name")
                        .of(WarningKind::Pictures),
                );
                None
            }
        };
        self.known.insert(name.to_owned(), mean);
        Ok(mean)
    }

    fn mean(
        &mut self,
        texture: &Element,
        warnings: &mut Vec<ImportWarning>,
    ) -> Result<Option<[u8; 3]>, ImportError> {
        if let Some(kind) = texture.word("builtin", &["none", "gradient", "checker", "flat"])?
            && kind > 0
        {
            let first = texture.array::<3>("rgb1")?.unwrap_or([0.8; 3]);
            let second = texture.array::<3>("rgb2")?.unwrap_or([0.5; 3]);
            let second = if kind == 3 { first } else { second };
            let byte = |k: usize| ((first[k] + second[k]) / 2.0).clamp(0.0, 1.0) * 255.0;
            return Ok(Some([0, 1, 2].map(|k| byte(k).round() as u8)));
        }
        let Some(file) = texture.text("file") else {
            warnings.push(texture.warn("", "left out: textures of six files").of(WarningKind::Pictures));
            return Ok(None);
        };
        let name = Path::new(file);
        let name = if self.strip_path { Path::new(name.file_name().unwrap_or_default()) } else { name };
        let path = self.folder.join(name);
        let found = match read_input(&path) {
            Ok(bytes) => mean_color(&bytes).ok_or_else(|| "it is no PNG or JPEG that can be read".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        match found {
            Ok(mean) => {
                self.files.push(path);
                Ok(Some(mean))
            }
            Err(reason) => {
                warnings.push(texture.warn("file", format!("left out: {reason}")).of(WarningKind::Pictures));
                Ok(None)
            }
        }
    }
}
