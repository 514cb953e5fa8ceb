"""What Flux says and what it means: pure values and rules, without Django, network or clock."""
