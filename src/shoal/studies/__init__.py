"""What an owner looks into before choosing: curves and charts."""
