/**
 * The long answer: about 620 words in ten short chapters, enough for forty seconds at the slow pace, so that
 * there is time to reload the page, pull the plug on the server, or open a second tab.
 */
export const STORY = `# The lighthouse that remembered

*A story by the offline model. It takes about forty seconds; reload the page while it runs.*

## 1. The rock

At the edge of the map stood a lighthouse on a rock so small that the tide counted it twice. Its keeper was called Ada, and she had one rule: whatever happened in the night was written in the log before it was spoken about. A ship, a gull, a change of wind. First the pencil, then the voice.

## 2. The log

The log was a plain book with squared paper. Each line had a number. Nobody had told Ada to number the lines, but she had noticed that people who number their lines sleep better. When she was asked how the night had been, she never said good or bad. She said: four hundred and twelve lines.

## 3. The storm

In October a storm came that did not knock. It took the boat, the washing line and, for one long moment, the light itself. The lamp went out in the middle of a sentence, for the lighthouse spoke in flashes, and a ship called *Patience* was listening.

## 4. The dark

Ada sat on the stairs in the dark. A younger keeper would have begun the message again from the start, and the ship would have counted the flashes twice and turned towards the rocks. A tired keeper would have gone to bed, and the ship would have waited for an ending that never came.

## 5. The match

She struck a match and read the last line of the log. Line two hundred and seven: *third flash sent, fourth not begun*. That was all she needed. She did not have to remember anything, because the book had remembered it for her while there was still light to write by.

## 6. The fourth flash

She turned the spare lamp by hand and sent the fourth flash, then the fifth, at the same pace as before. On the bridge of the *Patience* the mate looked up from his own notes, said "there it is", and went on counting where he had stopped. Nobody aboard ever learned that anything had broken.

## 7. The visitor

In spring an inspector came with a new boat and many questions. He wanted to know how the light could fail without a single ship going wrong. Ada gave him tea and the book. He read for an hour. "You write down everything," he said at last. "No," said Ada. "Only what I would need if I were someone else."

## 8. The second keeper

The inspector sent her an assistant, a quiet boy named Tom who liked to watch. Sometimes both stood at the window and saw the same light go round. When Tom came late, he did not ask what he had missed. He read the log from the top, quickly, until he had caught up with the present, and then he looked out of the window with her.

## 9. The clean page

Once a year, on the longest day, Ada closed the book, put it on the shelf and opened a new one. Tom asked whether it hurt to begin with an empty page. "It would," she said, "if someone else still believed in the old one." So they always did it together, both at once, and told the harbour the same evening.

## 10. The light

The lighthouse is still there. The lamp is electric now, and it fails about as often as lamps do. Sailors who pass at night say it is the calmest light on the coast. It stops sometimes, in the middle of a sentence. And then, while you are still wondering, it goes on, from exactly the place where it left off.

**The end.**`;
