module testbed/crane

go 1.26.0

tool github.com/google/go-containerregistry/cmd/crane
