//! Force laws of motors: gain, bias and activation of each kind of MuJoCo's shortcuts, and of
//! `general` (documentation, XML reference, actuator).

use core::f64::consts::PI;

use super::super::element::Element;
use super::super::error::{ImportError, ImportWarning, WarningKind};
use pliant_rigid::simulation::{Activation, ActivationTimes, ForceLaw, Muscle};

/// Gain, bias and activation of a motor.
pub(super) struct Law {
    pub gain: ForceLaw,
    pub bias: ForceLaw,
    pub activation: Activation,
}

impl Law {
    fn affine(gain: f64, bias: [f64; 3], activation: Activation) -> Self {
        Self { gain: ForceLaw::Affine([gain, 0.0, 0.0]), bias: ForceLaw::Affine(bias), activation }
    }
}

/// The law of a motor without muscle; `None` for one that is left out. `inertia` is what its
/// damping ratio is of \[kg m^2, kg\].
pub(super) fn law(
    element: &Element,
    inertia: f64,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Option<Law>, ImportError> {
    let none = Activation::None;
    let filter = |time_constant: f64| {
        if time_constant > 0.0 { Activation::Filter { time_constant } } else { Activation::None }
    };
    let time = || element.not_negative("timeconst");
    Ok(Some(match element.tag.as_str() {
        "motor" => Law::affine(1.0, [0.0; 3], none),
        "velocity" => {
            let kv = element.not_negative("kv")?.unwrap_or(1.0);
            Law::affine(kv, [0.0, 0.0, -kv], none)
        }
        "damper" => {
            let kv = element.not_negative("kv")?.unwrap_or(1.0);
            Law { gain: ForceLaw::Affine([0.0, 0.0, -kv]), bias: ForceLaw::NONE, activation: none }
        }
        "cylinder" => {
            let area = match element.not_negative("diameter")? {
                Some(diameter) => PI / 4.0 * diameter * diameter,
                None => element.not_negative("area")?.unwrap_or(1.0),
            };
            let bias = element.array::<3>("bias")?.unwrap_or_default();
            Law::affine(area, bias, Activation::Filter { time_constant: time()?.unwrap_or(1.0) })
        }
        tag @ ("position" | "intvelocity") => {
            let kp = element.not_negative("kp")?.unwrap_or(1.0);
            let kv = match (element.not_negative("kv")?, element.not_negative("dampratio")?) {
                (Some(_), Some(ratio)) if ratio > 0.0 => {
                    return Err(element.bad("dampratio", "left out where there is a kv"));
                }
                (Some(kv), _) => kv,
                (None, ratio) => 2.0 * ratio.unwrap_or(0.0) * (kp * inertia).sqrt(),
            };
            let activation =
                if tag == "intvelocity" { Activation::Integral } else { filter(time()?.unwrap_or(0.0)) };
            Law::affine(kp, [0.0, -kp, -kv], activation)
        }
        _ => return general(element, inertia, warnings),
    }))
}

fn general(
    element: &Element,
    inertia: f64,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Option<Law>, ImportError> {
    for (attribute, known) in [
        ("dyntype", &["none", "integrator", "filter", "filterexact"][..]),
        ("gaintype", &["fixed", "affine"]),
        ("biastype", &["none", "affine"]),
    ] {
        if element.text(attribute).is_some_and(|word| !known.contains(&word)) {
            let action = "left out with its actuator: this kind of actuator is not supported";
            warnings.push(element.warn(attribute, action).of(WarningKind::Missing));
            return Ok(None);
        }
    }
    let numbers = |attribute, default: [f64; 3]| -> Result<[f64; 3], ImportError> {
        let given = element.numbers(attribute, 1..=20)?.unwrap_or_default();
        Ok(core::array::from_fn(|i| given.get(i).copied().unwrap_or(default[i])))
    };
    let mut gain = numbers("gainprm", [1.0, 0.0, 0.0])?;
    if element.text("gaintype") != Some("affine") {
        gain = [gain[0], 0.0, 0.0];
    }
    let mut bias =
        if element.text("biastype") == Some("affine") { numbers("biasprm", [0.0; 3])? } else { [0.0; 3] };
    // A positive one beside gain and stiffness of the same size is a damping ratio.
    if bias[2] > 0.0 && bias[1] == -gain[0] {
        bias[2] = -2.0 * bias[2] * (gain[0] * inertia).sqrt();
    }
    let [time_constant, ..] = numbers("dynprm", [1.0, 0.0, 0.0])?;
    let activation = match element.text("dyntype") {
        Some("integrator") => Activation::Integral,
        Some("filter" | "filterexact") if time_constant < 0.0 => {
            return Err(element.bad("dynprm", "a time constant (s) that is not negative"));
        }
        Some("filter" | "filterexact") => Activation::Filter { time_constant },
        _ => Activation::None,
    };
    Ok(Some(Law { gain: ForceLaw::Affine(gain), bias: ForceLaw::Affine(bias), activation }))
}

/// The law of a muscle; `None` for one that is left out. `acceleration` is what a force of 1 gives
/// in the configuration of the file.
pub(super) fn muscle_law(
    element: &Element,
    lengths: Option<[f64; 2]>,
    acceleration: impl Fn() -> f64,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Option<Law>, ImportError> {
    if element.tag == "general" {
        let action = "left out with its actuator: write a muscle as <muscle>";
        warnings.push(element.warn("", action).of(WarningKind::Missing));
        return Ok(None);
    }
    let Some(lengths) = lengths.filter(|[low, high]| low < high) else {
        let action = "left out: a muscle needs a lengthrange, which MuJoCo finds by a simulation";
        warnings.push(element.warn("lengthrange", action).of(WarningKind::Missing));
        return Ok(None);
    };
    let value = |attribute, default: f64| element.not_negative(attribute).map(|x| x.unwrap_or(default));
    let range = element.array::<2>("range")?.unwrap_or([0.75, 1.05]);
    let active_range = [value("lmin", 0.5)?, value("lmax", 1.6)?];
    if range[0].is_nan() || range[1].is_nan() || range[0] >= range[1] {
        return Err(element.bad("range", "a least and a greater length"));
    }
    if !(active_range[0] < 1.0 && active_range[1] > 1.0) {
        return Err(element.bad("lmax", "above 1, and lmin below 1"));
    }
    let force = element.number("force")?.unwrap_or(-1.0);
    let peak_force = if force < 0.0 { value("scale", 200.0)? / acceleration().max(1e-15) } else { force };
    let muscle = Muscle {
        lengths,
        operating_range: range,
        peak_force,
        active_range,
        fastest: value("vmax", 1.5)?,
        passive: value("fpmax", 1.3)?,
        stretched: value("fvmax", 1.2)?,
    };
    let [rise, fall] = element.array::<2>("timeconst")?.unwrap_or([0.01, 0.04]);
    let smoothing = value("tausmooth", 0.0)?;
    if !(rise >= 0.0 && fall >= 0.0) {
        return Err(element.bad("timeconst", "two times (s) that are not negative"));
    }
    Ok(Some(Law {
        gain: ForceLaw::MuscleActive(muscle),
        bias: ForceLaw::MusclePassive(muscle),
        activation: Activation::Muscle(ActivationTimes { rise, fall, smoothing }),
    }))
}
