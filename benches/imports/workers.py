"""A process for each item, so that a crash or a hang of an engine costs one item alone."""

import multiprocessing
import multiprocessing.connection
import os
import time

context = multiprocessing.get_context("fork")


def each(items, function, jobs, limit):
    """Yields (item, answer, fault) as they end; the fault is None or what happened. `limit` in
    seconds."""
    waiting, running = list(reversed(items)), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            item = waiting.pop()
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_answer, args=(function, item, theirs))
            process.start()
            theirs.close()
            running[ours] = (item, process, time.monotonic() + limit)
        ready = multiprocessing.connection.wait(list(running), timeout=0.5)
        for pipe in ready:
            item, process, _ = running.pop(pipe)
            try:
                answer, fault = pipe.recv()
            except EOFError:
                process.join()
                answer, fault = None, f"crashed (exit code {process.exitcode})"
            process.join()
            yield item, answer, fault
        for pipe in [pipe for pipe, (_, _, end) in running.items() if time.monotonic() > end]:
            item, process, _ = running.pop(pipe)
            process.kill()
            process.join()
            yield item, None, f"took more than {limit:g} s"


def _answer(function, item, pipe):
    # Engines print warnings of their own.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        pipe.send((function(item), None))
    except Exception as error:  # noqa: BLE001: whatever an engine raises belongs to the file
        trace = error.__traceback__
        while trace.tb_next:
            trace = trace.tb_next
        where = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        pipe.send((None, f"{type(error).__name__} at {where}: {error}"))
    pipe.close()
    os._exit(0)
