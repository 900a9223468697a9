//! Graphs of the DIMACS colouring challenge as allocation problems.
//!
//! The instances follow their published definitions: queens' graphs, Mycielski's graphs, complete graphs, and random
//! graphs from our own generator. Every edge becomes a point at which both of its ends are live. The interference graph
//! is therefore the given graph, and the units of an allocation are the colours. Live ranges of a function are
//! intervals, but these ranges may overlap in any pattern. The tests therefore find an engine that relies on a property
//! of intervals.

use nvptx_ra::allocate::briggs::Briggs;
use nvptx_ra::allocate::fatpoint::Fatpoint;
use nvptx_ra::allocate::greedy::Greedy;
use nvptx_ra::allocate::{
    Allocator, ClassData, FileData, InterferenceGraph, LiveRange, Problem, ProblemBuilder, check_allocation,
};
use nvptx_ra::analysis::{Point, Segment, ValueNumber};
use nvptx_ra::lab::exact_allocation::Solver;

/// A graph: the number of vertices, and pairs of them.
struct Graph {
    vertices: usize,
    edges: Vec<(usize, usize)>,
}

impl Graph {
    /// Connects all pairs of vertices for which `are_adjacent` returns true.
    fn new(vertices: usize, mut are_adjacent: impl FnMut(usize, usize) -> bool) -> Self {
        let pairs = (0..vertices).flat_map(|a| (a + 1..vertices).map(move |b| (a, b)));
        Self { vertices, edges: pairs.filter(|&(a, b)| are_adjacent(a, b)).collect() }
    }

    /// The squares of a board, adjacent if a queen can move from one to the other: `queenN_N`.
    fn queen(side: usize) -> Self {
        Self::new(side * side, |a, b| {
            let (rows, columns) = ((a / side).abs_diff(b / side), (a % side).abs_diff(b % side));
            rows == 0 || columns == 0 || rows == columns
        })
    }

    /// Mycielski's graphs without triangles, `mycielK`. The construction starts from one edge and takes k - 1 steps.
    /// Each step adds a shadow for each vertex, adjacent to the vertex's neighbours, and one vertex adjacent to all
    /// shadows. Each step needs one more colour.
    fn mycielski(k: usize) -> Self {
        let mut graph = Self::complete(2);
        for _ in 1..k {
            let shadow = |vertex: usize| graph.vertices + vertex;
            let top = 2 * graph.vertices;
            let shadows = graph.edges.iter().flat_map(|&(a, b)| [(a, shadow(b)), (b, shadow(a))]);
            let to_top = (0..graph.vertices).map(|vertex| (shadow(vertex), top));
            let edges = graph.edges.iter().copied().chain(shadows).chain(to_top).collect();
            graph = Self { vertices: top + 1, edges };
        }
        graph
    }

    fn complete(vertices: usize) -> Self {
        Self::new(vertices, |_, _| true)
    }

    /// Connects each pair in `percent` of all cases, as in `DSJC125.1`, with our own random numbers (SplitMix64).
    fn random(vertices: usize, percent: u64, seed: u64) -> Self {
        let mut state = seed;
        Self::new(vertices, |_, _| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (bits ^ (bits >> 31)) % 100 < percent
        })
    }

    fn max_degree(&self) -> u32 {
        let mut degree = vec![0; self.vertices];
        for &(a, b) in &self.edges {
            degree[a] += 1;
            degree[b] += 1;
        }
        degree.into_iter().max().unwrap_or(0)
    }

    /// Returns the problem with this interference graph. Nothing can be spilled.
    fn problem(&self, name: &str, register_limit: Option<u32>) -> Problem {
        let mut builder = ProblemBuilder::new(name);
        let file = builder.file(FileData { name: "R".into(), register_limit, units_per_register: 1 });
        let class =
            builder.class(ClassData { name: "A".into(), file, width: 1, align: 1, bytes: 4, promotes_to: None });
        for vertex in 0..self.vertices {
            let own = (0..).zip(&self.edges).filter(|(_, (a, b))| [*a, *b].contains(&vertex));
            builder.range(
                class,
                own.map(|(at, _)| Segment { start: Point(at), end: Point(at + 1), value: ValueNumber(0) }),
                [],
            );
        }
        builder.finish()
    }
}

/// Returns the number of colours that an engine uses, and the number of vertices over the register limit. The checker
/// proves the allocation.
fn colors(engine: &dyn Allocator, problem: &Problem) -> (u32, u64) {
    let name = format!("{} of {}", engine.name(), problem.name());
    let allocation = engine.allocate(problem).unwrap_or_else(|error| panic!("{name}: {error}"));
    let costs = check_allocation(problem, &allocation).unwrap_or_else(|error| panic!("{name}: {error}"));
    (costs.units[0], costs.over_limit)
}

/// An instance with its chromatic number, if known, and the measured number of colours of each engine: without a limit,
/// and with a limit that is certainly large enough.
struct Instance {
    name: &'static str,
    graph: Graph,
    edges: usize,
    chromatic: Option<u32>,
    greedy: [u32; 2],
    briggs: [u32; 2],
    fatpoint: [u32; 2],
}

fn instances() -> Vec<Instance> {
    let instance = |name, graph, edges, chromatic, greedy, briggs, fatpoint| Instance {
        name,
        graph,
        edges,
        chromatic,
        greedy,
        briggs,
        fatpoint,
    };
    vec![
        instance("queen5_5", Graph::queen(5), 160, Some(5), [8, 7], [7, 8], [5, 5]),
        instance("queen6_6", Graph::queen(6), 290, Some(7), [10, 9], [9, 10], [8, 8]),
        instance("queen7_7", Graph::queen(7), 476, Some(7), [11, 12], [13, 10], [10, 10]),
        instance("queen8_8", Graph::queen(8), 728, Some(9), [12, 13], [13, 15], [11, 11]),
        instance("myciel3", Graph::mycielski(3), 20, Some(4), [4, 4], [4, 4], [4, 4]),
        instance("myciel4", Graph::mycielski(4), 71, Some(5), [5, 5], [5, 5], [5, 5]),
        instance("myciel5", Graph::mycielski(5), 236, Some(6), [6, 6], [6, 6], [6, 6]),
        instance("myciel6", Graph::mycielski(6), 755, Some(7), [7, 7], [7, 7], [7, 7]),
        instance("complete20", Graph::complete(20), 190, Some(20), [20, 20], [20, 20], [20, 20]),
        instance("random125.1", Graph::random(125, 10, 1), 789, None, [8, 7], [7, 8], [7, 7]),
        instance("random125.5", Graph::random(125, 50, 1), 3883, None, [26, 24], [23, 23], [21, 21]),
    ]
}

/// Each instance, and the interference graph of its problem, match the definition.
#[test]
fn instances_are_their_graphs() {
    for Instance { name, graph, edges, .. } in instances() {
        let problem = graph.problem(name, None);
        assert_eq!(problem.validate(), Ok(()), "{name}");
        let interference = InterferenceGraph::new(&problem);
        let statistics = interference.statistics();
        assert_eq!((statistics.nodes, statistics.edges), (graph.vertices, edges), "{name}");
        assert_eq!(statistics.max_degree as u32, graph.max_degree(), "{name}");
        let is_edge =
            |&(a, b): &(usize, usize)| interference.neighbours(LiveRange(a as u32)).contains(&LiveRange(b as u32));
        assert!(graph.edges.iter().all(is_edge), "{name}");
    }
}

/// No engine uses fewer colours than the chromatic number, more than the largest degree plus one, or more than the
/// recorded figure. Without a limit, greedy takes vertices in the order of their first edges; with a limit, by their
/// degrees.
#[test]
fn engines_keep_their_colors() {
    for Instance { name, graph, chromatic, greedy, briggs, fatpoint, .. } in instances() {
        let bound = graph.max_degree() + 1;
        for (register_limit, at) in [(None, 0), (Some(bound), 1)] {
            let problem = graph.problem(name, register_limit);
            let engines: [(&dyn Allocator, u32); 3] = [
                (&Greedy::default(), greedy[at]),
                (&Briggs::default(), briggs[at]),
                (&Fatpoint::default(), fatpoint[at]),
            ];
            for (engine, measured) in engines {
                let (colors, over) = colors(engine, &problem);
                let who = format!("{} of {name} in {register_limit:?}: {colors}", engine.name());
                assert_eq!(over, 0, "{who}");
                assert!(colors >= chromatic.unwrap_or(3), "{who}");
                assert!(colors <= bound && colors <= measured, "{who}, and {measured} before");
            }
        }
    }
}

/// The exact solver finds the chromatic number if it finishes, and bounds it otherwise.
#[test]
fn exact_bounds_the_chromatic_number() {
    let mut solved = Vec::new();
    for Instance { name, graph, chromatic, greedy, .. } in instances() {
        let problem = graph.problem(name, None);
        let exact = Solver { steps: 12_000 }.solve(&problem).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (least, found) = (exact.least.units[0], exact.costs.units[0]);
        assert_eq!(check_allocation(&problem, &exact.allocation), Ok(exact.costs), "{name}");
        assert!(chromatic.is_none_or(|chromatic| (least..=found).contains(&chromatic)), "{name}: {least} to {found}");
        assert!(found <= greedy[0], "{name}: {found}");
        if exact.is_optimal {
            solved.push(name);
            assert_eq!(least, found, "{name}");
        }
    }
    assert_eq!(solved, ["queen5_5", "queen6_6", "queen7_7", "myciel3", "myciel4", "complete20"]);
}
