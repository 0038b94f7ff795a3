"""Result records of benchmarks that wrap chat messages: tau-bench, tau2, General-AgentBench."""

from weighbridge.traces.importer import Importer

IMPORTERS: tuple[Importer, ...] = ()
