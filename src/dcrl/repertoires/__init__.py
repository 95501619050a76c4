"""What a run leaves: repertoires, loaded, saved, checked, merged and converted."""
