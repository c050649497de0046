reals="f32 f64"
