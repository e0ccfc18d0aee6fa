package contents

// maxAttributes bounds AttributeTags, in different attributes.
const maxAttributes = 4096

// AttributeTags caches the tags of attributes: most arcs of a graph have attributes of others. The zero
// value is ready.
type AttributeTags struct {
	tags map[string]Tag // by Attributes.AppendText
	text []byte
}

// Of returns a.Tag, which it computes only for attributes that are not in the cache.
func (c *AttributeTags) Of(a *Attributes) Tag {
	c.text = a.AppendText(c.text[:0])
	tag, known := c.tags[string(c.text)]
	if !known {
		tag = TagOf(c.text)
		if c.tags == nil || len(c.tags) == maxAttributes {
			c.tags = make(map[string]Tag)
		}
		c.tags[string(c.text)] = tag
	}
	return tag
}
