
    def over_fields(self, module, program, inputs=(), outputs=(), seed=0):
        """A function of tensors: the inputs are stored to fields, program() launches kernels, the outputs are copies of fields.

        Outputs begin at zero, all else is as it stands. module: or several, of one session, whose fields the program touches.
        seed: of random numbers in the first call; the next one has the next. The gradient of a single number is computed with
        the call; else backward runs the program once more, from where it began."""
        _torch()
        p = _Program(module, program, inputs, outputs, seed, pure=False)

        def function(*values):
            if len(values) != len(p.inputs):
                raise TypeError(f"{len(p.inputs)} tensors are wanted ({', '.join(p.names)}), not {len(values)}")
            return _apply_tensors(p, values)

        return _not_compiled(function)
