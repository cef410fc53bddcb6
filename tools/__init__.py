"""What a release needs: values anchored, the wheel checked, the repository's address, tables of pages."""
