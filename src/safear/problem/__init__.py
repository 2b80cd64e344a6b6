"""Problems as data: model, conditions, reading with positions, checks, JSON Schema."""
