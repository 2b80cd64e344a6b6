"""Plans for many people who each have their own costs, chances and limits: on threads, or on a cluster."""
