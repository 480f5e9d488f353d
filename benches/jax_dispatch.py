"""Median time that JAX takes to dispatch a jitted 8-element add on the CPU.

Run with Python and `pip install jax==0.10.2`, on an otherwise idle machine:
    python benches/jax_dispatch.py
"""

import statistics
import time

import jax
import jax.numpy as jnp

SAMPLES = 50_000


def main() -> None:
    add = jax.jit(lambda x, y: x + y)
    x = jnp.ones(8, jnp.float32)
    y = jnp.full(8, 2.0, jnp.float32)
    add(x, y).block_until_ready()
    times = []
    for _ in range(SAMPLES):
        start = time.perf_counter_ns()
        add(x, y)
        times.append(time.perf_counter_ns() - start)
    print(f"jax {jax.__version__}: jit(add) {statistics.median(times) / 1e3:.3f} us")


if __name__ == "__main__":
    main()
