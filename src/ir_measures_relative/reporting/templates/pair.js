function pairPage(a, b, t) { return runPage(a, t); }
