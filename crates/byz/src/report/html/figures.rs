//! Figures with the page's own legends, and a map of the workers' weights for every cell.

use crate::{
    error::Result,
    report::{
        Study,
        figure::{Drawing, Key, Medium, drawings, escape},
    },
};

pub(super) fn of_study(study: &Study) -> Result<String> {
    let drawings = drawings(study, Medium::Page)?;
    let (maps, figures): (Vec<_>, Vec<_>) = drawings.iter().partition(|drawing| drawing.cell.is_some());
    Ok(figures.into_iter().map(figure).collect::<String>() + &cells(&maps))
}

/// The picture as a group of parts that can be reached, which an image has not.
fn picture(drawing: &Drawing) -> String {
    drawing.svg.replacen("role=\"img\"", "role=\"group\"", 1)
}

fn figure(drawing: &Drawing) -> String {
    format!(
        "<figure>\n<figcaption><b>{}</b> {}</figcaption>\n{}<div class=\"scroll\">{}</div>\n</figure>\n",
        escape(&drawing.title),
        escape(&drawing.note),
        legend(&drawing.legend),
        picture(drawing)
    )
}

/// Buttons that switch curves; a key where there is no script.
fn legend(keys: &[Key]) -> String {
    if keys.is_empty() {
        return String::new();
    }
    let button = |key: &Key| {
        format!(
            "<button type=\"button\" aria-pressed=\"true\" data-series=\"{}\"><svg width=\"28\" height=\"10\" aria-hidden=\"true\">\
             {}</svg>{}</button>",
            key.index,
            key.sample((0.0, 5.0), 28.0, 2.4),
            escape(&key.label)
        )
    };
    let buttons: String = keys.iter().map(button).collect();
    format!(
        "<div class=\"legend\" role=\"group\" aria-label=\"Curves, click to hide or show\">{buttons}</div>\n"
    )
}

/// Folded one by one; the script puts a list in the place of the folds.
fn cells(maps: &[&Drawing]) -> String {
    let Some(last) = maps.len().checked_sub(1) else { return String::new() };
    let mut folds = String::new();
    for (index, drawing) in maps.iter().enumerate() {
        let open = if index == last { " open" } else { "" };
        folds += &format!(
            "<details{open}><summary>{}</summary>\n<p>{}</p>\n<div class=\"scroll\">{}</div></details>\n",
            escape(drawing.cell.as_deref().unwrap_or("")),
            escape(&drawing.note),
            picture(drawing)
        );
    }
    format!(
        "<figure class=\"trust\">\n<figcaption><b>Who was trusted</b> every worker’s weight in the aggregate over the \
         rounds, first seed of each cell</figcaption>\n\
         <label class=\"choose\" hidden>Cell <select></select></label>\n{folds}</figure>\n"
    )
}
