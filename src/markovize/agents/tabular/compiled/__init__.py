"""What an agent does in every step, compiled. One step of an environment goes this way, and no other:

1. :class:`~markovize.agents.tabular.runners.EnvRunner` steps the environment and numbers the transition (s, a, s');
2. :func:`stepping.advance` enters compiled code with that number, the reward, and how the step ended;
3. :func:`episodes.learn_from_step` moves the machine, compares the reward with what is remembered, and updates;
4. :func:`episodes.choose_action` says what to do next, greedily or on a tour (:mod:`exploration`);
5. the action goes back to the runner.

On a world's tables :func:`worlds.play` does all of this for many episodes in one call. :mod:`arrays` has what compiled
code works on, :mod:`reference` how it gets there; with ``NUMBA_DISABLE_JIT=1`` everything here runs as plain Python.
"""
