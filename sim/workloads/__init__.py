"""What jobs do: every workload becomes one program a rank."""
