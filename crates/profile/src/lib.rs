//! The columnar profile: functions, samples, totals, views.
