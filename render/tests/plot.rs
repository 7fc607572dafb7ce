//! Plots are SVG with their curves, labels and breaks; nothing to draw is an error.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used)]

use pliant_render::plot::{Plot, PlotError, Series, Style};

fn force() -> Plot {
    let points = (0..200).map(|i| f64::from(i) * 0.005).map(|t| (t, 12.0 + 8.0 * (9.0 * t).sin())).collect();
    Plot {
        title: "Normal force on the pin".into(),
        x_label: "time [s]".into(),
        y_label: "force [N]".into(),
        series: vec![Series { name: "pin".into(), points, style: Style::Line }],
        hlines: vec![(14.7, "weight".into())],
        ..Plot::default()
    }
}

#[test]
fn a_plot_is_svg_with_its_texts_and_curves() {
    let svg = force().to_svg().unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for text in ["Normal force on the pin", "time [s]", "force [N]", "pin", "weight"] {
        assert!(svg.contains(text), "{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("force.svg");
    force().write_svg(&path).unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), svg);
}

// Checks: an SVG is XML 1.0 whatever the names hold.
#[test]
fn names_do_not_break_the_file() {
    let name = "a<b>&\"'\u{1b}[2J\u{0}\n]]>\u{ffff}";
    let mut plot = Plot { title: name.into(), hlines: vec![(14.7, name.into())], ..force() };
    plot.series[0].name = name.into();
    let svg = plot.to_svg().unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let shown = |node: roxmltree::Node| node.text().is_some_and(|text| text.contains("a<b>&\"'"));
    assert!(document.descendants().filter(|node| node.is_text() && shown(*node)).count() >= 3, "{svg}");
}

// Decades of a logarithmic axis are equally far apart: 1e-5 ... 1e-1 against time falling by tenths
// is a straight line.
#[test]
fn logarithmic_axes_straighten_power_laws() {
    let points: Vec<(f64, f64)> = (1..=5).map(|n| (10f64.powi(-n), 10f64.powi(n - 3))).collect();
    let series = Series { name: "dough".into(), points, style: Style::Points };
    let plot = Plot { log_x: true, log_y: true, series: vec![series], ..Plot::default() };
    let svg = plot.to_svg().unwrap();
    let value = |circle: &str, name: &str| -> f64 {
        circle.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    let circles: Vec<(f64, f64)> =
        svg.split("<circle").skip(1).map(|c| (value(c, "cx"), value(c, "cy"))).collect();
    assert_eq!(circles.len(), 5);
    let steps: Vec<(f64, f64)> = circles.windows(2).map(|w| (w[1].0 - w[0].0, w[1].1 - w[0].1)).collect();
    // Whole pixels: two roundings apart.
    assert!(
        steps.iter().all(|s| (s.0 - steps[0].0).abs() <= 2.0 && (s.1 - steps[0].1).abs() <= 2.0),
        "{steps:?}"
    );
}

#[test]
fn points_without_a_place_break_the_line() {
    let points = vec![(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 1.0), (4.0, 3.0)];
    let whole = vec![(0.0, 1.0), (1.0, 2.0), (3.0, 1.0), (4.0, 3.0)];
    let lines = |points| {
        let series = vec![Series { name: "s".into(), points, style: Style::Line }];
        let svg = Plot { series, ..Plot::default() }.to_svg().unwrap();
        assert!(!svg.contains("NaN"));
        svg.matches("stroke=\"#0072B2\"").count()
    };
    assert_eq!(lines(points), lines(whole) + 1);
}

#[test]
fn nothing_to_draw_is_an_error() {
    let series =
        vec![Series { name: "s".into(), points: vec![(1.0, -1.0), (f64::NAN, 1.0)], style: Style::Line }];
    let plot = Plot { title: "empty".into(), log_y: true, series, ..Plot::default() };
    assert!(matches!(plot.to_svg(), Err(PlotError::Empty { .. })));
    // One point alone has axes about it.
    let series = vec![Series { name: "s".into(), points: vec![(3.0, 5.0)], style: Style::LinePoints }];
    assert!(Plot { series, ..Plot::default() }.to_svg().is_ok());
}
