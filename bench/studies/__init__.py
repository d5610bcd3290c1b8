"""Long studies, one file each."""
