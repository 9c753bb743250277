"""stylized."""
