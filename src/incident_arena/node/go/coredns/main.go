// Command coredns is CoreDNS with the plugins that the Corefiles of the node and of the agent's way out name, and no
// others.
//
// CoreDNS as it comes has a plugin for each cloud; their libraries are half of what it takes to compile it.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/rewrite"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() {
	// The order in which a request passes them, whatever the Corefile's is.
	if err := dnsserver.SetDirectives([]string{
		"ready", "health", "errors", "log", "rewrite", "cache", "template", "kubernetes", "forward",
	}); err != nil {
		panic(err)
	}
	coremain.Run()
}
