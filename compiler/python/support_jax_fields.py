
    def over_fields(self, module, program, inputs=(), outputs=(), seed=0):
        """A function of arrays: the inputs are stored to fields, program() launches kernels, the outputs are copies of fields.

        It is pure, as JAX wants: it begins with all other fields and params as they stand now, outputs at zero, and random
        numbers by the seed. Whoever changes a field or param later gets an error. Its gradient runs the program once more."""
        jax = _jax()
        p = _Program(module, program, inputs, outputs, seed, pure=True)
        shapes = tuple(jax.ShapeDtypeStruct(x.data.shape, x.data.dtype) for x in p.outputs)
        for x in p.outputs:
            if x.data.dtype.itemsize == 8 and not jax.config.jax_enable_x64:
                raise TypeError(f"{x._spec.name} is {x.data.dtype}, which JAX has with jax_enable_x64 alone")
        apply = _jax_apply(p, lambda _: shapes)

        def function(*values):
            if len(values) != len(p.inputs):
                raise TypeError(f"{len(p.inputs)} arrays are wanted ({', '.join(p.names)}), not {len(values)}")
            outs = apply(*(_as_jax_argument(jax, name, x.data.dtype, x.data.shape, v) for name, x, v in zip(p.names, p.inputs, values)))
            return outs[0] if len(outs) == 1 else outs

        return function
