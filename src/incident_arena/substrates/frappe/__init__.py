"""An internal business application on the framework Frappe."""
