reals=f64
