"""Entry of a pool's worker process: ``python -I -S _worker.py MODULE WORKER TRAINER``.

Only the compiled module is loaded, from its file: the package, numpy and Gymnasium would
take longer to import than the worker takes to start, and it needs none of them.
"""

import importlib.machinery
import importlib.util
import os
import signal
import sys


def main(path: str, worker: str, trainer: str) -> None:
    # Ctrl-C reaches every process of the terminal; what it means is the trainer's to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    name = "emurust._emurust"
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    module.run_pool_worker(int(worker), int(trainer))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:
        # The trainer gets the reason through the shared block where there is one.
        sys.stderr.write(f"emurust worker: {error}\n")
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)
