"""A scenario in, a result out: builds the machine, places the job, runs it."""
