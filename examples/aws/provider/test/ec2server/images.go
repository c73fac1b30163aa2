package ec2server

// Image is a machine image.
type Image struct {
	ID         string `xml:"imageId"`
	Name       string `xml:"name"`
	Owner      string `xml:"imageOwnerId"`
	Created    string `xml:"creationDate"`
	Processor  string `xml:"architecture"`
	State      string `xml:"imageState"`
	RootDevice string `xml:"rootDeviceName,omitempty"`
}

// AddImages adds images to the region.
func (s *Server) AddImages(images ...Image) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images = append(s.images, images...)
}

// describeImages returns one image per page.
func (s *Server) describeImages(p params) (any, error) {
	var response struct {
		Images []Image `xml:"imagesSet>item"`
		Next   string  `xml:"nextToken,omitempty"`
	}
	for _, image := range s.images {
		wanted, err := p.wanted(&record{}, map[string]string{
			"name": image.Name, "architecture": image.Processor, "state": image.State,
		})
		if err != nil {
			return nil, err
		}
		if !wanted || image.Owner != p.get("Owner.1") || image.ID <= p.get("NextToken") {
			continue
		}
		if len(response.Images) == 1 {
			response.Next = response.Images[0].ID
			break
		}
		response.Images = append(response.Images, image)
	}
	return response, nil
}
