FROM raw.string
