"""Work on ranks: sessions, jobs, pools of processes, a cluster, the store."""
