"""Steps in Arrow columns (data frames, Parquet) as episodes, without a Python object for each step."""
