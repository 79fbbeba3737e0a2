"""What tables are made of: types, hierarchies and released texts, tables, sources and files."""
