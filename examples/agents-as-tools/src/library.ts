/** The lead's library: a few short texts, so that researchers have something true to read without a network. */

/** Topics that the library covers, as a person would write them. */
export const TOPICS = ["tides", "lighthouses", "honeybees", "sourdough", "northern lights", "knots"] as const;

export const LIBRARY: Readonly<Record<string, string>> = {
  "/library/tides.md": `# Tides

The sea rises and falls because the Moon pulls on the near side of the Earth more strongly than on the far side. The difference stretches the ocean into two bulges, and the turning Earth carries every coast through both of them.

Most coasts therefore see two high waters a day, about twelve hours and twenty-five minutes apart. The extra minutes are the Moon's own progress along its orbit.

The Sun pulls too, a little less than half as much. When Sun, Moon and Earth line up, at new and full moon, the pulls add up to a spring tide; when they stand at right angles, the tide is small and is called neap.

The shape of the coast matters as much as the sky. In the Bay of Fundy the water sloshes in step with the tide and can rise by sixteen metres; in the Mediterranean one can hardly see it.
`,
  "/library/lighthouses.md": `# Lighthouses

A lighthouse tells a sailor two things: here is danger, and here is where you are. The second is why every light has its own rhythm of flashes, printed on the chart beside it.

Open fires served for two thousand years. The Pharos of Alexandria, built around 280 BC, was more than a hundred metres high and stood until earthquakes brought it down.

In 1822 Augustin Fresnel cut a lens into rings of prisms. The rings bend almost all of a lamp's light into one flat beam, with a fraction of the glass, and a single lamp could then be seen thirty kilometres away.

Today most lights are electric and nobody lives in them. They are still kept, because a lamp needs no signal, no battery of yours, and no permission.
`,
  "/library/honeybees.md": `# Honeybees

A colony is some thirty thousand workers, a few hundred drones and one queen. In summer a worker lives six weeks: three inside the hive as cleaner, nurse and builder, three outside as a forager.

A forager that has found flowers dances on the comb. The angle of her run against the vertical is the angle of the flowers to the Sun, and the length of the waggle is the distance. Others follow her in the dark and fly there.

To fill one jar of honey the bees visit about two million flowers. They dry the nectar with their wings until less than a fifth is water; then nothing can grow in it, and it keeps for years.

In winter they do not sleep. They form a ball around the queen and shiver, and the middle of the ball stays near thirty degrees.
`,
  "/library/sourdough.md": `# Sourdough

Sourdough is flour and water that have been left to live. Wild yeasts and lactic acid bacteria settle in it; the yeasts make the gas that lifts the bread, the bacteria make the acids that give it taste.

The two get along because they eat different sugars. The acid also keeps other microbes out, which is why a starter can live for a hundred years on nothing but flour.

Time does the kneading. While the dough rests, the proteins of the flour link up by themselves, and enzymes cut starch into sugar for the crust to brown with.

The bread keeps longer than yeast bread, since acid slows down both mould and staling.
`,
  "/library/northern-lights.md": `# Northern lights

The northern lights begin on the Sun, which blows a thin wind of charged particles past us at four hundred kilometres a second. The Earth's magnetic field turns most of it away.

Where the field lines lead down to the poles, particles come in and strike the upper air. Oxygen answers in green at a hundred kilometres and in red above two hundred; nitrogen in blue and violet.

They are there by day and in summer too, only too faint to be seen. The best hours lie around midnight, near the equinoxes, under a dark sky.

A strong storm on the Sun pushes the oval of light towards the equator. In 1859 people read newspapers by it in the Caribbean, and telegraphs ran without batteries.
`,
  "/library/knots.md": `# Knots

A knot holds by friction: the rope presses on itself, and the harder the pull, the harder it presses. A good knot is one that holds under load and can still be undone afterwards.

The bowline makes a loop that neither slips nor jams. Sailors have tied it for five hundred years, and it can be tied with one hand.

The sheet bend joins two ropes of different thickness. It is the same knot as the bowline, tied between two ropes instead of within one.

Every knot weakens the rope, because its outer fibres have a longer way around the bend than the inner ones. A bowline costs about a third of the strength.
`
};
