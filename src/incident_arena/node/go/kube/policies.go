package main

import (
	"context"
	"fmt"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"github.com/spf13/cobra"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// newPoliciesCommand is kube-router's controller of network policies by itself. Its routes, service proxy and load
// balancer are of no use to a node that has kube-proxy and no neighbours, and bring a BGP server to compile.
func newPoliciesCommand() *cobra.Command {
	config := options.NewKubeRouterConfig()
	command := &cobra.Command{
		Use:   "kube-policies",
		Short: "Make the node's firewall hold the cluster's network policies",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return enforce(command.Context(), config) },
	}
	config.EnableIPv4 = true
	config.RunFirewall = true
	flags := command.Flags()
	flags.StringVar(&config.Kubeconfig, "kubeconfig", "", "how to reach the API server")
	flags.StringVar(&config.HostnameOverride, "hostname-override", "", "the node's name")
	flags.StringSliceVar(&config.ClusterIPCIDRs, "service-cluster-ip-range", config.ClusterIPCIDRs, "addresses of services")
	flags.DurationVar(&config.IPTablesSyncPeriod, "sync-period", time.Minute, "how often all rules are written again")
	return command
}

// enforce runs until the process is told to end.
func enforce(parent context.Context, config *options.KubeRouterConfig) error {
	ctx, stop := signal.NotifyContext(parent, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	access, err := clientcmd.BuildConfigFromFlags("", config.Kubeconfig)
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", config.Kubeconfig, err)
	}
	client, err := kubernetes.NewForConfig(access)
	if err != nil {
		return fmt.Errorf("client of the API server: %w", err)
	}
	tables, sets, err := netpol.NewIPTablesHandlers(config)
	if err != nil {
		return fmt.Errorf("iptables and ipset: %w", err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	factory.Start(ctx.Done())
	// Without them every policy is open: the node ends rather than wait for ever.
	listing, listed := context.WithTimeout(ctx, time.Minute)
	defer listed()
	for kind, synced := range factory.WaitForCacheSync(listing.Done()) {
		if !synced {
			return fmt.Errorf("the list of %s was not read within a minute", kind)
		}
	}
	var ipsets sync.Mutex
	controller, err := netpol.NewNetworkPolicyController(
		client, config, pods, policies, namespaces, &ipsets, tables, sets)
	if err != nil {
		return fmt.Errorf("controller of network policies: %w", err)
	}
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		pods:       controller.PodEventHandler,
		namespaces: controller.NamespaceEventHandler,
		policies:   controller.NetworkPolicyEventHandler,
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("handler of events: %w", err)
		}
	}
	var running sync.WaitGroup
	running.Add(1)
	// Its signs of life are for a health server that the node has no use for; unread they would hold it up.
	beats := make(chan *healthcheck.ControllerHeartbeat)
	go func() {
		for range beats {
		}
	}()
	controller.Run(beats, ctx.Done(), &running)
	running.Wait()
	return nil
}
