//! The files of the page, built into the program.

/// A file of the page.
pub(crate) struct PageFile {
    /// Its name, the last part of its route.
    pub name: &'static str,
    /// Its media type.
    pub kind: &'static str,
    /// Its text.
    pub text: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! script {
    ($name:literal) => {
        PageFile { name: $name, kind: SCRIPT, text: include_str!(concat!("../page/", $name)) }
    };
}

/// The page itself.
pub(crate) const INDEX: &str = include_str!("../page/index.html");

/// Its style.
pub(crate) const STYLE: PageFile =
    PageFile { name: "style.css", kind: "text/css; charset=utf-8", text: include_str!("../page/style.css") };

/// Its script modules; `main.js` is the one that the page loads.
pub(crate) const SCRIPTS: &[PageFile] = &[
    PageFile { name: "three.min.js", kind: SCRIPT, text: include_str!("../page/three/three.min.js") },
    script!("arrows.js"),
    script!("bodies.js"),
    script!("cloth.js"),
    script!("colour.js"),
    script!("controls.js"),
    script!("detail.js"),
    script!("frame.js"),
    script!("main.js"),
    script!("particles.js"),
    script!("plot.js"),
    script!("shadow.js"),
    script!("source.js"),
    script!("surfaces.js"),
    script!("view.js"),
];

/// The file of a name; none if the page has no such file.
pub(crate) fn file(name: &str) -> Option<&'static PageFile> {
    std::iter::once(&STYLE).chain(SCRIPTS).find(|file| file.name == name)
}
