"""From evidence to verdict: pure functions over recorded files, without a cluster, a network or a model."""
