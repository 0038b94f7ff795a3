"""The pages in a browser: one package, so that its tests share one."""
