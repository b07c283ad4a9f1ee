//! Tests of whether a change is more than chance: each gives the probability that one like it, or a greater one, is noise.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Counts beyond 2^53 lose digits that no comparison shows.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// How many values there are, their mean, and their variance: that of the sample, by one less than its size.
pub(crate) fn moments(values: &[f64]) -> (f64, f64, f64) {
    let count = float(values.len() as u64);
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (count, mean, if values.len() < 2 { 0.0 } else { squares / (count - 1.0) })
}

/// How probable it is to be so far from the middle of a distribution around 0, on either side.
fn both_sides(distribution: &impl ContinuousCDF<f64, f64>, at: f64) -> f64 {
    2.0 * distribution.cdf(-at.abs())
}

/// Welch's t-test, both sides.
pub(crate) fn welch(before: &[f64], after: &[f64]) -> Option<f64> {
    let ((n1, m1, v1), (n2, m2, v2)) = (moments(before), moments(after));
    let (v1, v2) = (v1 / n1, v2 / n2);
    let error = v1 + v2;
    if error == 0.0 {
        // No spread at all: equal, or certainly different.
        return Some(if m1 == m2 { 1.0 } else { 0.0 });
    }
    let freedom = error.powi(2) / (v1.powi(2) / (n1 - 1.0) + v2.powi(2) / (n2 - 1.0));
    Some(both_sides(&StudentsT::new(0.0, 1.0, freedom).ok()?, (m2 - m1) / error.sqrt()))
}

/// Student's t-test, both sides: the spread is taken for the same before and after, so that one side may have one value. Nothing
/// where there is no spread to go by.
pub(crate) fn student(before: &[f64], after: &[f64]) -> Option<f64> {
    let ((n1, m1, v1), (n2, m2, v2)) = (moments(before), moments(after));
    let freedom = n1 + n2 - 2.0;
    let pooled = (v1 * (n1 - 1.0) + v2 * (n2 - 1.0)) / freedom;
    let error = (pooled * (1.0 / n1 + 1.0 / n2)).sqrt();
    if error.is_nan() || error == 0.0 {
        return None;
    }
    Some(both_sides(&StudentsT::new(0.0, 1.0, freedom).ok()?, (m2 - m1) / error))
}

/// The test of two proportions, both sides: how often the row was met among all samples of the event.
pub(crate) fn proportions(met: (u64, u64), of: (u64, u64)) -> Option<f64> {
    if of.0 == 0 || of.1 == 0 {
        return None;
    }
    let (x1, x2, n1, n2) = (float(met.0), float(met.1), float(of.0), float(of.1));
    let pooled = (x1 + x2) / (n1 + n2);
    let error = (pooled * (1.0 - pooled) * (1.0 / n1 + 1.0 / n2)).sqrt();
    if error == 0.0 {
        return Some(1.0);
    }
    Some(both_sides(&Normal::standard(), (x2 / n2 - x1 / n1) / error))
}

/// The test of two sums, both sides: values that so many samples add up to. Each sample stands for about the same, and they
/// come independently (Poisson), so that a sum of n samples has a relative deviation of 1/√n. How often was sampled may differ.
pub(crate) fn sums(values: (f64, f64), met: (u64, u64), of: (u64, u64)) -> Option<f64> {
    if of.0 == 0 || of.1 == 0 {
        return None;
    }
    let variance = |value: f64, met: u64| if met == 0 { 0.0 } else { value.powi(2) / float(met) };
    let error = (variance(values.0, met.0) + variance(values.1, met.1)).sqrt();
    if error == 0.0 {
        return Some(1.0);
    }
    Some(both_sides(&Normal::standard(), (values.1 - values.0) / error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }

    /// Expected: scipy.stats.ttest_ind(before, after, equal_var=False), version 1.17.
    #[test]
    fn welch_is_as_scipy_has_it() {
        near(welch(&[10.1, 9.8, 10.3, 10.0], &[11.0, 11.4, 10.9, 11.2, 11.1]), 0.000_168_321_325_632_678_05);
        near(welch(&[10.1, 9.8, 10.3], &[10.0, 10.2, 9.9]), 0.855_992_823_711_503_3);
        assert_eq!(welch(&[1.0, 1.0], &[1.0, 1.0]), Some(1.0));
        assert_eq!(welch(&[1.0, 1.0], &[2.0, 2.0]), Some(0.0));
    }

    /// Expected: scipy.stats.ttest_ind(before, after), version 1.17.
    #[test]
    fn student_takes_one_value_on_a_side() {
        near(student(&[10.1, 9.8, 10.3], &[11.0]), 0.084_791_369_355_141_12);
        near(student(&[10.4], &[10.1, 9.8, 10.3]), 0.370_059_211_651_287_13);
        assert_eq!(student(&[0.0, 0.0], &[1.0]), None);
        assert_eq!(student(&[1.0], &[1.0]), None);
    }

    /// Expected: the formula of the test of two proportions, evaluated with Python's statistics.NormalDist.
    #[test]
    fn proportions_are_as_python_has_them() {
        near(proportions((50, 80), (1000, 1000)), 0.006_506_597_483_637_799);
        near(proportions((50, 52), (1000, 1000)), 0.838_915_399_770_158_6);
        assert_eq!(proportions((0, 5), (0, 100)), None);
        assert_eq!(proportions((100, 100), (100, 100)), Some(1.0));
    }

    /// Expected: Python's statistics.NormalDist: 2 * cdf(-(130 - 100) / sqrt(130 + 100)); of the third, where the second side was
    /// sampled four times as often, 2 * cdf(-(1300 - 1000) / sqrt(1000 ** 2 / 100 + 1300 ** 2 / 520)).
    #[test]
    fn sums_are_as_python_has_them() {
        near(sums((100.0, 130.0), (100, 130), (100, 130)), 0.047_912_755_008_447_716);
        near(sums((100.0, 100.0), (100, 400), (100, 400)), 1.0);
        near(sums((1000.0, 1300.0), (100, 520), (100, 520)), 0.009_154_404_276_630_057);
        near(sums((0.0, 7.0), (0, 1), (5, 5)), 0.317_310_507_862_914_1);
        assert_eq!(sums((0.0, 7.0), (0, 1), (0, 5)), None);
        assert_eq!(sums((0.0, 0.0), (1, 1), (1, 1)), Some(1.0));
    }
}
