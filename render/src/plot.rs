//! Line plots as SVG: force curves, time against tolerance. White background, no font files: the
//! viewer's own sans-serif.

use std::io::{self, Write};
use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use pliant_io::files::{IoError, atomic_write};

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// A line through the points.
    #[default]
    Line,
    /// Dots alone.
    Points,
    /// A line with a dot at each point.
    LinePoints,
}

/// One curve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in the units of the axes. One that cannot be drawn (not finite, or not positive
    /// on a logarithmic axis) interrupts the line.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub style: Style,
}

/// A plot; labels name the quantity and its unit, as in `force [N]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plot {
    /// Title above the plot.
    pub title: String,
    /// Below the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// Whether the horizontal axis is logarithmic.
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic.
    pub log_y: bool,
    /// Ends of the vertical axis; none takes those of the curves and lines. Values beyond them are
    /// drawn at the edge.
    pub y_range: Option<Range>,
    /// The curves.
    pub series: Vec<Series>,
    /// Horizontal lines, such as a closed-form value: height and name.
    pub hlines: Vec<(f64, String)>,
}

/// Plots one above the other, over one horizontal quantity.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    /// Title above all of them.
    pub title: String,
    /// The plots, from above.
    pub panels: Vec<Plot>,
}

/// Why there is no plot.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// No point of any series can be drawn.
    #[error("plot `{title}` has no point that can be drawn")]
    Empty {
        /// Title of the plot.
        title: String,
    },
    /// The plot could not be laid out.
    #[error("plot `{title}`: {reason}")]
    Layout {
        /// Title of the plot.
        title: String,
        /// Message of the plotting library.
        reason: String,
    },
    /// The file could not be written.
    #[error(transparent)]
    Io(#[from] IoError),
}

/// Size of a plot \[pixels\].
const SIZE: (u32, u32) = (760, 460);

/// Height of a panel of a figure, and of the figure's title \[pixels\].
const PANEL_HEIGHT: u32 = 270;
const TITLE_HEIGHT: u32 = 40;

/// Number of points from which on only the extremes of every bucket of a curve are drawn: several
/// per pixel.
const MOST_POINTS: usize = 6000;

/// Curve colours that are distinct for any colour vision (Okabe and Ito, 2008), without the yellow.
const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(60, 60, 60),
];

const TEXT: RGBColor = RGBColor(40, 44, 52);

/// What plots are drawn on.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Ends of an axis.
pub type Range = std::ops::Range<f64>;

impl Plot {
    /// The plot as the text of an SVG file.
    ///
    /// # Errors
    /// [`PlotError::Empty`] when there is nothing to draw, [`PlotError::Layout`] when it does not
    /// fit.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            root.fill(&WHITE).map_err(|e| self.layout(&e))?;
            self.draw_on(&root, 20)?;
            root.present().map_err(|e| self.layout(&e))?;
        }
        Ok(valid_xml(svg))
    }

    /// Writes the plot to the SVG file `path`, complete or not at all.
    ///
    /// # Errors
    /// Those of [`Plot::to_svg`], and [`PlotError::Io`] naming `path`.
    pub fn write_svg(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        let svg = self.to_svg()?;
        Ok(atomic_write(path, |out| -> io::Result<()> { out.write_all(svg.as_bytes()) })?)
    }

    fn layout(&self, reason: &dyn std::fmt::Display) -> PlotError {
        PlotError::Layout { title: self.title.clone(), reason: reason.to_string() }
    }

    /// Draws into an area, with a title of `title_size` pixels.
    fn draw_on(&self, root: &Area, title_size: u32) -> Result<(), PlotError> {
        let x = axis_range(self.log_x, self.drawable().map(|p| p.0));
        let heights = self.hlines.iter().map(|line| line.0).filter(|&y| usable(self.log_y, y));
        let y = axis_range(self.log_y, self.drawable().map(|p| p.1).chain(heights));
        let (Some(x), Some(y)) = (x, y) else {
            return Err(PlotError::Empty { title: self.title.clone() });
        };
        let y = self.y_range.clone().unwrap_or(y);
        let drawn = match (self.log_x, self.log_y) {
            (false, false) => self.draw(root, title_size, x.clone(), y.clone(), x, y),
            (true, false) => self.draw(root, title_size, x.clone().log_scale(), y.clone(), x, y),
            (false, true) => self.draw(root, title_size, x.clone(), y.clone().log_scale(), x, y),
            (true, true) => self.draw(root, title_size, x.clone().log_scale(), y.clone().log_scale(), x, y),
        };
        drawn.map_err(|e| self.layout(&e))
    }

    /// The corner for the legend in which the fewest points lie.
    fn legend_place(&self, x_ends: &Range, y_ends: &Range) -> SeriesLabelPosition {
        let part = |log: bool, ends: &Range, value: f64| {
            let [low, high, value] = [ends.start, ends.end, value].map(|v| if log { v.log10() } else { v });
            (value - low) / (high - low)
        };
        let points =
            || self.drawable().map(|(x, y)| (part(self.log_x, x_ends, x), part(self.log_y, y_ends, y)));
        // Room of a legend: a third of the width, half of the height.
        let covered = |right: bool, upper: bool| {
            let along = |x: f64| if right { x > 0.67 } else { x < 0.33 };
            let across = |y: f64| if upper { y > 0.5 } else { y < 0.5 };
            points().filter(|&(x, y)| along(x) && across(y)).count()
        };
        let corners = [
            (covered(true, true), SeriesLabelPosition::UpperRight),
            (covered(true, false), SeriesLabelPosition::LowerRight),
            (covered(false, true), SeriesLabelPosition::UpperLeft),
            (covered(false, false), SeriesLabelPosition::LowerLeft),
        ];
        // The first of the best: `min_by_key` keeps it.
        corners.into_iter().min_by_key(|corner| corner.0).map_or(SeriesLabelPosition::UpperRight, |c| c.1)
    }

    fn drawable(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.series.iter().flat_map(|s| s.points.iter().copied()).filter(|p| self.can_draw(p))
    }

    fn can_draw(&self, point: &(f64, f64)) -> bool {
        usable(self.log_x, point.0) && usable(self.log_y, point.1)
    }

    /// Lays out axes of type `X` and `Y`, which cover `x_ends` and `y_ends`, and draws everything.
    fn draw<X, Y>(
        &self,
        root: &Area,
        title_size: u32,
        x: X,
        y: Y,
        x_ends: Range,
        y_ends: Range,
    ) -> Result<(), Box<dyn std::error::Error>>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(root)
            .caption(&self.title, ("sans-serif", title_size).into_font().color(&TEXT))
            .margin(14)
            .x_label_area_size(46)
            .y_label_area_size(72)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .x_label_formatter(&|v| tick(*v, &x_ends))
            .y_label_formatter(&|v| tick(*v, &y_ends))
            .label_style(("sans-serif", 13).into_font().color(&TEXT))
            .axis_desc_style(("sans-serif", 15).into_font().color(&TEXT))
            .bold_line_style(RGBColor(214, 218, 224))
            .light_line_style(RGBColor(242, 243, 245))
            .axis_style(RGBColor(120, 126, 136))
            .draw()?;
        for (height, name) in self.hlines.iter().filter(|line| usable(self.log_y, line.0)) {
            let ends = [(x_ends.start, *height), (x_ends.end, *height)];
            let style = RGBColor(110, 110, 110).stroke_width(1);
            chart
                .draw_series(DashedLineSeries::new(ends, 7, 5, style))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 7, y)], style));
        }
        for (series, color) in self.series.iter().zip(COLORS.iter().cycle()) {
            // A break in the data is a break in the line; the first piece carries the name.
            let mut pieces = series.points.split(|p| !self.can_draw(p)).filter(|piece| !piece.is_empty());
            let first = pieces.next().unwrap_or_default();
            let dots = if series.style == Style::Line { 0 } else { 3 };
            let stroke = if series.style == Style::Points { 0 } else { 2 };
            let line = |piece: &[(f64, f64)]| {
                LineSeries::new(thin(piece), color.stroke_width(stroke).filled()).point_size(dots)
            };
            chart
                .draw_series(line(first))?
                .label(&series.name)
                .legend(move |(x, y)| Rectangle::new([(x, y - 2), (x + 18, y + 1)], color.filled()));
            for piece in pieces {
                chart.draw_series(line(piece))?;
            }
        }
        if self.series.len() + self.hlines.len() > 1 || self.series.iter().any(|s| !s.name.is_empty()) {
            chart
                .configure_series_labels()
                .position(self.legend_place(&x_ends, &y_ends))
                .background_style(WHITE.mix(0.85))
                .border_style(RGBColor(200, 204, 210))
                .label_font(("sans-serif", 13).into_font().color(&TEXT))
                .draw()?;
        }
        Ok(())
    }
}

impl Figure {
    /// The figure as the text of an SVG file.
    ///
    /// # Errors
    /// Those of [`Plot::to_svg`] of a panel.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        let layout = |e: &dyn std::fmt::Display| PlotError::Layout {
            title: self.title.clone(),
            reason: e.to_string(),
        };
        let mut svg = String::new();
        {
            let height = TITLE_HEIGHT + PANEL_HEIGHT * self.panels.len() as u32;
            let root = SVGBackend::with_string(&mut svg, (SIZE.0, height)).into_drawing_area();
            root.fill(&WHITE).map_err(|e| layout(&e))?;
            let style = ("sans-serif", 20).into_font().color(&TEXT);
            let below = root.titled(&self.title, style).map_err(|e| layout(&e))?;
            let areas = below.split_evenly((self.panels.len(), 1));
            self.panels.iter().zip(&areas).try_for_each(|(panel, area)| panel.draw_on(area, 16))?;
            root.present().map_err(|e| layout(&e))?;
        }
        Ok(valid_xml(svg))
    }

    /// Writes the figure to the SVG file `path`, complete or not at all.
    ///
    /// # Errors
    /// Those of [`Figure::to_svg`], and [`PlotError::Io`] naming `path`.
    pub fn write_svg(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        let svg = self.to_svg()?;
        Ok(atomic_write(path, |out| -> io::Result<()> { out.write_all(svg.as_bytes()) })?)
    }
}

/// Replaces the characters that XML 1.0 does not allow (section 2.2), which names may hold.
fn valid_xml(svg: String) -> String {
    let is_allowed =
        |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'));
    if svg.chars().all(is_allowed) {
        return svg;
    }
    svg.chars().map(|c| if is_allowed(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// At most about [`MOST_POINTS`] of the points of a curve: of long ones the least and the largest
/// of every bucket, in their order, so that no peak is lost.
fn thin(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points.to_vec();
    }
    let bucket = points.len().div_ceil(MOST_POINTS / 2);
    let extremes = |bucket: &[(f64, f64)]| {
        let by = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let least = bucket.iter().min_by(by).copied();
        let most = bucket.iter().max_by(by).copied();
        let mut ends: Vec<_> = least.into_iter().chain(most).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends
    };
    points.chunks(bucket).flat_map(extremes).collect()
}

/// Whether a coordinate can be shown on an axis.
fn usable(log: bool, value: f64) -> bool {
    value.is_finite() && (!log || value > 0.0)
}

/// An axis that covers the values, with a margin of 5 %, or from decade to decade where it is
/// logarithmic; none without values.
fn axis_range(log: bool, values: impl Iterator<Item = f64>) -> Option<Range> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low > high {
        return None;
    }
    if log {
        let decade = low.log10().floor();
        // One decade at least: the values may all be the same power of ten.
        let end = high.log10().ceil().max(decade + 1.0);
        return Some(10f64.powf(decade)..10f64.powf(end));
    }
    let span = high - low;
    // One value alone still needs an axis about it.
    let margin = if span > 0.0 { 0.05 * span } else { (0.1 * high.abs()).max(1e-12) };
    Some(low - margin..high + margin)
}

/// A number on an axis: plain where that is short, else with an exponent.
fn tick(value: f64, ends: &Range) -> String {
    let largest = ends.start.abs().max(ends.end.abs());
    if value.abs() < 1e-9 * largest {
        return "0".to_owned();
    }
    if !(1e-3..1e5).contains(&value.abs()) {
        return trimmed_exponent(value);
    }
    // Enough decimals for steps of a hundredth of the range, and no trailing zeros.
    let decimals =
        (3.0 - (ends.end - ends.start).abs().min(value.abs() * 10.0).log10().floor()).clamp(0.0, 7.0);
    let text = format!("{value:.*}", decimals as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// `1.5e-7` with at most three decimals and no trailing zeros.
fn trimmed_exponent(value: f64) -> String {
    let text = format!("{value:.3e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        None => text,
    }
}
