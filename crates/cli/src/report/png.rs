//! SVG as PNG, at twice its size so that it is sharp in print.

use byz::{Error, Result};
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree, fontdb::Database},
};
use std::{path::Path, sync::Arc};

const SCALE: f32 = 2.0;

/// The fonts of the system, for pictures in this directory.
pub(super) fn fonts(directory: &Path) -> Result<Arc<Database>> {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    usable(fonts, directory)
}

fn usable(mut fonts: Database, directory: &Path) -> Result<Arc<Database>> {
    let Some(any) = fonts.faces().next().and_then(|face| face.families.first()) else {
        let problem = "has the SVG files but no PNG, because no font is installed; on Debian, install fonts-dejavu-core";
        return Err(Error::File { path: directory.into(), problem: problem.into() });
    };
    // Where none of the fonts that the figures name is there, any is better than none.
    let any = any.0.clone();
    fonts.set_sans_serif_family(any);
    Ok(Arc::new(fonts))
}

/// The picture.
pub(super) fn of(svg: &str, fonts: &Arc<Database>) -> Result<Vec<u8>> {
    let broken = |problem: String| Error::Internal(format!("a figure cannot be drawn: {problem}"));
    let options = Options { fontdb: fonts.clone(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| broken(error.to_string()))?;
    let (width, height) = ((tree.size().width() * SCALE).ceil(), (tree.size().height() * SCALE).ceil());
    let mut pixels = Pixmap::new(width as u32, height as u32).ok_or_else(|| broken("its size".into()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| broken(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_font_one_is_told_which_to_install() {
        let error = usable(Database::new(), "figures".as_ref()).unwrap_err().to_string();
        assert!(error.contains("fonts-dejavu-core"), "{error}");
    }

    #[test]
    fn a_picture_is_twice_as_large() {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"5\"/>";
        let png = of(svg, &Arc::new(Database::new())).unwrap();
        assert_eq!(&png[1..4], b"PNG");
        assert_eq!((png[19], png[23]), (20, 10));
    }
}
