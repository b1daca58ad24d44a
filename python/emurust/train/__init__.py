"""Training on `EmuRust-Pokemon` with PufferLib's trainer: ``emurust train`` and ``evaluate``.

Needs ``pip install 'emurust[train]'``. docs/training.md tells how to use it; who wants the
parts: `config` (one file of options), `build` (environment and policy from it), `trainer`
(PufferLib's, with checkpoints that resume exactly), `checkpoint`, `run` (a training from
beginning to end) and `evaluate`.
"""
