import { degreeOf, directNetworkOf } from "../../model/comm/schedule.ts";
import { type Digraph, diameter } from "../../model/direct/digraph.ts";
import { bidirectionalMooreSteps, type DirectFacts, mooreSteps } from "../../model/direct/facts.ts";
import { oppositeLinks } from "../../model/topology/link-classes.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import { significant } from "../../report/amounts.ts";
import { labelled } from "./text.ts";

/** The diameter is shown where finding it visits this many links at most. */
const MOST_VISITS = 1e7;

/**
 * Returns what is to be said of a connected network of direct links as a graph: degree, opposite links, translations, diameter
 * beside the Moore bounds; nothing for networks with switches.
 */
export function describeGraph(topology: Topology): string[] {
  const { npuCount, linkSource, linkTarget } = topology;
  const network = directNetworkOf(topology);
  if (network === null || npuCount < 2) return [];
  const { graph } = network;
  const degree = degreeOf(graph);
  const isRegular = linkCount(topology) === npuCount * degree;
  const comesInPairs = oppositeLinks(linkSource, linkTarget, []) !== null;
  const words = [
    isRegular ? `regular of degree ${degree}` : `not regular, of degree ${degree} at most`,
    comesInPairs ? "links in opposite pairs" : "links not in opposite pairs",
    alike(graph),
  ];
  const visits = linkCount(topology) * (graph.translations === null ? npuCount : 1);
  return [
    labelled("graph", words.join(", ")),
    ...(visits <= MOST_VISITS
      ? [labelled("diameter", diameterText(diameter(graph), npuCount, degree, comesInPairs))]
      : []),
  ];
}

/** Returns T_B beside the least there can be: "T_B 1.021 M/B (1045/1024), least 0.9990". */
export function bandwidthText(facts: Omit<DirectFacts, "predictedUs">): string {
  const { bandwidth, bandwidthValue, leastBandwidth, leastBandwidthValue } = facts;
  const [value, least] = [significant(bandwidthValue), significant(leastBandwidthValue)];
  const told = facts.bandwidthOptimal ? "the least" : `least ${least === value ? leastBandwidth : least}`;
  return `T_B ${value} M/B (${bandwidth}), ${told}`;
}

function alike({ translations }: Digraph): string {
  if (translations === null) return "no group of translations found";
  return `translations ${translations.join("x")} take every NPU to every other`;
}

function diameterText(longest: number, nodes: number, degree: number, comesInPairs: boolean): string {
  const fewest = mooreSteps(nodes, degree);
  if (longest === fewest) return `${longest}, Moore optimal`;
  const inPairs = bidirectionalMooreSteps(nodes, degree);
  if (!comesInPairs || inPairs === fewest) return `${longest} (Moore bound ${fewest})`;
  const optimal = longest === inPairs ? ", which is optimal" : "";
  return `${longest} (Moore bound ${fewest}, of links in opposite pairs ${inPairs}${optimal})`;
}
