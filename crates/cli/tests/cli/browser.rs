//! The page in a real browser: it loads without errors, its figures are drawn, pointing reads, a legend switches.
//!
//! Skipped with a message where no browser is installed.

use crate::{report::page, support::Files};
use std::process::Command;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// What a reader would do; what comes of it is written on the page's root.
const READER: &str = r#"<script>
window.addEventListener('load', function () {
  var root = document.documentElement, figure = document.querySelector('figure'), button = figure.querySelector('button');
  var hidden = function () {
    return Array.from(figure.querySelectorAll('.series')).filter(function (curve) {
      return getComputedStyle(curve).display === 'none';
    }).length;
  };
  button.click();
  root.setAttribute('data-off', button.getAttribute('aria-pressed') + ' ' + hidden());
  button.click();
  root.setAttribute('data-on', button.getAttribute('aria-pressed') + ' ' + hidden());
  var panel = figure.querySelector('.panel'), box = panel.getBoundingClientRect(), reading = document.getElementById('reading');
  var at = { clientX: box.left + box.width * 0.7, clientY: box.top + box.height * 0.7, bubbles: true };
  panel.ownerSVGElement.dispatchEvent(new PointerEvent('pointermove', at));
  root.setAttribute('data-said', reading.hidden ? 'nothing' : reading.textContent);
  panel.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  root.setAttribute('data-hushed', String(reading.hidden));
  var list = document.querySelector('.trust select');
  list.selectedIndex = 1;
  list.dispatchEvent(new Event('change'));
  var open = Array.from(document.querySelectorAll('.trust details')).filter(function (fold) { return fold.open; });
  root.setAttribute('data-cell', open.map(function (fold) { return fold.querySelector('summary').textContent; }).join());
  var paths = Array.from(document.querySelectorAll('.series path'));
  root.setAttribute('data-drawn', paths.filter(function (path) { return path.getTotalLength() > 50; }).length);
  root.setAttribute('data-wide', String(root.scrollWidth > root.clientWidth));
});
</script></body>"#;

fn browser() -> Option<&'static str> {
    let works =
        |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    BROWSERS.into_iter().find(works)
}

/// The page as it is after the reader was there, in a window of this width.
fn visited(browser: &str, files: &Files, width: u32) -> String {
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .arg(format!("--user-data-dir={}", files.path("profile").display()))
        .arg(format!("--window-size={width},900"))
        .args(["--virtual-time-budget=4000", "--dump-dom"])
        .arg(format!("file://{}", files.path("visited.html").display()))
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_reader_can_point_at_the_page_and_switch_its_curves() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no browser is installed (one of {})", BROWSERS.join(", "));
        return;
    };
    let files = Files::new();
    let html = page(&files);
    files.write("visited.html", html.replace("</body>", READER).as_bytes());
    for width in [1280, 500] {
        let dom = visited(browser, &files, width);
        let root = dom.split("<html").nth(1).and_then(|rest| rest.split('>').next()).unwrap_or_default();
        let said = |name: &str| {
            let value = root.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
            value.unwrap_or("-").to_string()
        };
        assert_eq!((said("data-ready"), said("data-errors")), ("yes".into(), "-".into()), "{root}");
        // One curve in each of four panels.
        assert_eq!((said("data-off"), said("data-on")), ("false 4".into(), "true 0".into()), "{root}");
        assert!(
            said("data-said").contains("sign_flip · RFA, round ") && said("data-said").contains(" ± "),
            "{root}"
        );
        assert_eq!(said("data-hushed"), "true");
        assert_eq!(said("data-cell"), "sign_flip · RFA · Ours");
        assert!(said("data-drawn").parse::<usize>().unwrap() >= 8, "{root}");
        assert_eq!(said("data-wide"), "false", "at {width} pixels");
    }
}
