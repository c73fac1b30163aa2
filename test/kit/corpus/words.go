package corpus

// Words for names. Neither the words nor their combinations are reserved in the IDL.
var (
	adjectives = []string{
		"Amber", "Brisk", "Calm", "Deep", "Eager", "Fair", "Grand", "Hollow", "Inner", "Jade", "Keen", "Lunar",
		"Mild", "Noble", "Outer", "Prime", "Quiet", "Rapid", "Solid", "Tidal", "Upper", "Vivid", "Warm", "Young",
	}
	things = []string{
		"Anchor", "Broker", "Cluster", "Domain", "Endpoint", "Firewall", "Gateway", "Host", "Index", "Journal",
		"Keyring", "Listener", "Mirror", "Network", "Orchestrator", "Pipeline", "Queue", "Registry", "Stream", "Table",
		"Uplink", "Vault", "Worker", "Zone",
	}
	aspects = []string{
		"Access", "Backup", "Cache", "Delivery", "Encryption", "Failover", "Health", "IP", "Log", "Metric", "Network",
		"Origin", "Policy", "Query", "Retry", "Storage", "TLS", "Usage", "VPC", "Write",
	}
	qualities = []string{
		"Address", "Budget", "Class", "Delay", "Expiry", "Format", "Group", "Hint", "Interval", "Kind", "Limit",
		"Mode", "Note", "Owner", "Prefix", "Quota", "Range", "Size", "Target", "Window",
	}
	states = []string{
		"Active", "Blocked", "Cold", "Drained", "Expired", "Frozen", "Guarded", "Hidden", "Idle", "Joined",
	}
	sentences = []string{
		"It takes effect when the next maintenance window opens.",
		"Left out, it is chosen by the service.",
		"See the service's manual for the values that it accepts.",
		"A change is carried out without an interruption.",
		"The bill depends on it, so choose with care.",
		"It is counted per account and not per resource.",
	}
)
