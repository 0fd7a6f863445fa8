"""Pictures as SVG and HTML text, for notebooks, exports and small parts of pages."""
