#!/usr/bin/env python3
"""Makes measurements.csv: a damped oscillation with noise of a fixed seed."""
import math
import random

AMPLITUDE, DECAY, FREQUENCY, PHASE, OFFSET, DRIFT = 1.8, 0.35, 3.1, 0.4, 0.5, -0.06

random.seed(20)
print("# t, measured value, its standard error. Made by measure.py")
print("t,y,sigma")
for i in range(160):
    t = i / 16
    sigma = random.uniform(0.05, 0.15)
    y = AMPLITUDE * math.exp(-DECAY * t) * math.cos(FREQUENCY * t + PHASE) + OFFSET + DRIFT * t
    print(f"{t:.4f},{random.gauss(y, sigma):.5f},{sigma:.5f}")
