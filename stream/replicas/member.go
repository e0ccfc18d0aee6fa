package replicas

// Member names the far end of relays, for packages relay/edge and fleet/hub.
type Member struct {
	// Name is that of the tunnel.
	Name string
	// Run identifies one run of the process: revisions belong to a run.
	Run string
	// Address is not empty.
	Address string
	// Wire is the version of the relay protocol; empty: any.
	Wire string
}
