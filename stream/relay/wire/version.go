package wire

// Version is the version of what replicas say to each other. It goes up with whatever an
// older replica would misread or not know, such as a field of a payload: those of another
// version are not asked, and would not answer.
const Version = "3"

// Path is what the path of each request of one replica to another one begins with.
const Path = "/relay/v" + Version
