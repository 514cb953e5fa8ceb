"""Commands, one module each, registered in `clusters_app/cli.py`. `output.py` prints for all of them."""
